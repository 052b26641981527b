import "./copy.js";
