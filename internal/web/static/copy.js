import { copyable } from "./dom.js";

// Texts that are made to be copied get a button for it.
for (const pre of document.querySelectorAll("[data-copy]")) copyable(pre);
