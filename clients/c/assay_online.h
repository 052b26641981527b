/* assay_online.h - on-line tuning for C and C++, in one file, with libc alone.
 *
 *   #define ASSAY_ONLINE_IMPLEMENTATION   // in one file of the program
 *   #include "assay_online.h"
 *
 *   assay *a = assay_open(rank);              // finds $ASSAY_ONLINE
 *   for (...) {
 *       assay_fetch(a);
 *       int tile = assay_int(a, "tile", 64);  // 64 while nothing is known
 *       double t0 = now(); iterate(tile); assay_report(a, now() - t0);
 *   }
 *   assay_close(a);
 *
 * Nothing here ends the program or makes it wait long: without a server the
 * last configuration stays, which is said once on standard error, and the
 * server is looked for again after 1 s, 2 s, ... at most 30 s. One handle
 * belongs to one thread. The messages are those of docs/format/online.md.
 */
#ifndef ASSAY_ONLINE_H
#define ASSAY_ONLINE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay assay;

/* assay_open returns a handle for the rank of this process, from 0; NULL only
 * if there is no memory. Every function takes NULL, and then does nothing. */
assay *assay_open(int rank);

/* assay_fetch gets the configuration of the next iteration. It returns 1 if it
 * is from the server, 0 if it is the last one again. */
int assay_fetch(assay *a);

/* Parameters of the configuration by name, or otherwise if there is none. The
 * text is good until the next assay_text or assay_fetch. A switch is 1 or 0 as an int. */
long assay_int(const assay *a, const char *name, long otherwise);
double assay_real(const assay *a, const char *name, double otherwise);
const char *assay_text(assay *a, const char *name, const char *otherwise);

/* assay_report tells how many seconds the iteration took. It returns -1, and
 * sends nothing, for NaN, infinite and negative ones; else 0. */
int assay_report(assay *a, double seconds);

/* assay_fail tells that the configuration cannot be run, and why: at most 200
 * bytes of the reason are kept. */
void assay_fail(assay *a, const char *reason);

/* assay_close leaves the session and frees the handle. */
void assay_close(assay *a);

#ifdef __cplusplus
}
#endif
#endif

#ifdef ASSAY_ONLINE_IMPLEMENTATION
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ASSAY_CONFIG = 16384, ASSAY_ANSWER = 32768, ASSAY_TIMEOUT_S = 2 };

struct assay {
    int rank, fd, joined, over, lost, untuned;
    long long turn;          /* to be reported, or 0 */
    double retry, pause;     /* when to look for the server, and how long in between */
    char instance[33];
    char address[256], token[256];
    char config[ASSAY_CONFIG]; /* a flat JSON object */
    char text[1024];
    char answer[ASSAY_ANSWER]; /* of the last request */
    int status;
};

static double assay__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void assay__say(const assay *a, const char *what) {
    fprintf(stderr, "assay: rank %d: %s\n", a->rank, what);
}

/* assay__token reads $ASSAY_TOKEN_FILE, which others must not be able to read. */
static int assay__token(assay *a) {
    const char *path = getenv("ASSAY_TOKEN_FILE");
    struct stat st;
    FILE *f;
    int n;
    if (!path || !*path) return 0;
    f = fopen(path, "r");
    if (!f) return -1;
    if (fstat(fileno(f), &st) || (st.st_mode & 077) || !fgets(a->token, sizeof a->token, f)) {
        fclose(f);
        return -1;
    }
    fclose(f);
    for (n = 0; a->token[n] > ' ' && a->token[n] <= '~'; n++) {}
    a->token[n] = 0;
    return n ? 0 : -1;
}

assay *assay_open(int rank) {
    assay *a = (assay *)calloc(1, sizeof *a);
    const char *address = getenv("ASSAY_ONLINE");
    unsigned char id[16];
    int i, fd;
    if (!a) return NULL;
    a->rank = rank;
    a->fd = -1;
    strcpy(a->config, "{}");
    memset(id, 0, sizeof id);
    fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, id, sizeof id) != (ssize_t)sizeof id) {
        struct timespec t; /* good enough to tell processes apart */
        long pid = (long)getpid();
        clock_gettime(CLOCK_REALTIME, &t);
        memcpy(id, &t.tv_nsec, 8);
        memcpy(id + 8, &pid, 8);
    }
    if (fd >= 0) close(fd);
    for (i = 0; i < 16; i++) sprintf(a->instance + 2 * i, "%02x", id[i]);
    if (!address || !*address) {
        assay__say(a, "ASSAY_ONLINE is not set: running untuned");
        a->untuned = 1;
    } else if (strlen(address) >= sizeof a->address || (strncmp(address, "unix:", 5) && strncmp(address, "http://", 7))) {
        assay__say(a, "ASSAY_ONLINE is neither unix:PATH nor http://HOST:PORT: running untuned");
        a->untuned = 1;
    } else if (assay__token(a)) {
        assay__say(a, "ASSAY_TOKEN_FILE cannot be read, or others can read it: running untuned");
        a->untuned = 1;
    } else {
        strcpy(a->address, address);
    }
    return a;
}

static void assay__hangup(assay *a) {
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
}

static int assay__connect(assay *a) {
    struct timeval limit;
    int one = 1, fd = -1;
    limit.tv_sec = ASSAY_TIMEOUT_S;
    limit.tv_usec = 0;
    if (!strncmp(a->address, "unix:", 5)) {
        struct sockaddr_un to;
        memset(&to, 0, sizeof to);
        to.sun_family = AF_UNIX;
        if (strlen(a->address + 5) >= sizeof to.sun_path) return -1;
        strcpy(to.sun_path, a->address + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to)) {
            close(fd);
            fd = -1;
        }
    } else {
        char host[256], *port;
        struct addrinfo hints, *all = NULL;
        strcpy(host, a->address + 7);
        port = strrchr(host, ':');
        if (!port) return -1;
        *port++ = 0;
        port[strcspn(port, "/")] = 0;
        memset(&hints, 0, sizeof hints);
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
        if (host[0] == '[') { /* [::1] */
            memmove(host, host + 1, strlen(host));
            host[strcspn(host, "]")] = 0;
        }
        if (getaddrinfo(host, port, &hints, &all)) return -1;
        fd = socket(all->ai_family, all->ai_socktype, all->ai_protocol);
        if (fd >= 0 && connect(fd, all->ai_addr, all->ai_addrlen)) {
            close(fd);
            fd = -1;
        }
        freeaddrinfo(all);
        if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    if (fd < 0) return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    a->fd = fd;
    return 0;
}

/* assay__post sends a request and reads the answer into a->answer and
 * a->status. It returns -1 if there is no connection any more. */
static int assay__post(assay *a, const char *name, const char *body) {
    char request[2048], *end, *line;
    size_t have = 0, want = 0, head = 0, sent = 0, n;
    if (a->fd < 0 && assay__connect(a)) return -1;
    n = (size_t)snprintf(request, sizeof request,
        "POST /v1/online/%s HTTP/1.1\r\nHost: assay\r\nContent-Length: %zu\r\n%s%s%s\r\n%s", name, strlen(body),
        a->token[0] ? "Authorization: Bearer " : "", a->token, a->token[0] ? "\r\n" : "", body);
    if (n >= sizeof request) return -1;
    while (sent < n) {
        ssize_t k = send(a->fd, request + sent, n - sent, MSG_NOSIGNAL);
        if (k <= 0) {
            if (k < 0 && errno == EINTR) continue;
            goto lost;
        }
        sent += (size_t)k;
    }
    while (!want || have < want) { /* want is 0 until the head is there */
        ssize_t k;
        if (have + 1 >= sizeof a->answer) goto lost;
        k = recv(a->fd, a->answer + have, sizeof a->answer - 1 - have, 0);
        if (k <= 0) {
            if (k < 0 && errno == EINTR) continue;
            goto lost;
        }
        have += (size_t)k;
        a->answer[have] = 0;
        if (!want && (end = strstr(a->answer, "\r\n\r\n"))) {
            long length = -1;
            head = (size_t)(end - a->answer) + 4;
            for (line = a->answer; line < end; line = strstr(line, "\r\n") + 2)
                if (!strncasecmp(line, "content-length:", 15)) length = strtol(line + 15, NULL, 10);
            if (length < 0 || length >= (long)(sizeof a->answer - head)) goto lost;
            want = head + (size_t)length;
        }
    }
    if (strncmp(a->answer, "HTTP/1.1 ", 9)) goto lost;
    a->status = atoi(a->answer + 9);
    memmove(a->answer, a->answer + head, have - head + 1);
    return 0;
lost:
    assay__hangup(a);
    return -1;
}

static int assay__is(const assay *a, const char *code) {
    char key[64];
    snprintf(key, sizeof key, "\"code\":\"%s\"", code);
    return strstr(a->answer, key) != NULL;
}

/* assay__trouble notes that the server cannot be used; it says so once. */
static void assay__trouble(assay *a, int answered) {
    if (answered && assay__is(a, "ended")) {
        a->over = 1;
        assay__hangup(a);
        assay__say(a, "the session has ended: keeping the last configuration");
        return;
    }
    if (!a->lost) {
        if (answered) fprintf(stderr, "assay: rank %d: refused: %.300s", a->rank, a->answer);
        assay__say(a, "no use of the server: going on with the last configuration");
    }
    a->lost = 1;
    a->joined = 0;
    a->pause = a->pause > 0 ? (a->pause < 15 ? 2 * a->pause : 30) : 1;
    a->retry = assay__now() + a->pause;
}

int assay_fetch(assay *a) {
    char body[128], *config, *end;
    int again;
    if (!a) return 0;
    a->turn = 0;
    if (a->untuned || a->over || (a->lost && assay__now() < a->retry)) return 0;
    for (again = 0;; again = 1) {
        if (!a->joined) {
            snprintf(body, sizeof body, "{\"rank\":%d,\"instance\":\"%s\"}", a->rank, a->instance);
            if (assay__post(a, "join", body)) return assay__trouble(a, 0), 0;
            if (a->status != 200) return assay__trouble(a, 1), 0;
            a->joined = 1;
        }
        snprintf(body, sizeof body, "{\"instance\":\"%s\"}", a->instance);
        if (!assay__post(a, "fetch", body)) {
            if (a->status == 200) break;
            if (again || !assay__is(a, "not-joined")) return assay__trouble(a, 1), 0;
        } else if (again) {
            return assay__trouble(a, 0), 0;
        }
        a->joined = 0; /* a server that was replaced, or a connection that was cut */
    }
    config = strstr(a->answer, "\"config\":");
    end = strrchr(a->answer, '}');
    if (strncmp(a->answer, "{\"turn\":", 8) || !config || end - (config + 9) >= ASSAY_CONFIG) return assay__trouble(a, 0), 0;
    a->turn = strtoll(a->answer + 8, NULL, 10);
    memcpy(a->config, config + 9, (size_t)(end - (config + 9)));
    a->config[end - (config + 9)] = 0;
    if (a->lost) assay__say(a, "the server is back");
    a->lost = 0;
    a->pause = 0;
    return 1;
}

/* assay__skip returns the end of the JSON text that begins at p with a quote. */
static const char *assay__skip(const char *p) {
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

/* assay__find returns the value of a key of the configuration, or NULL. Names of
 * parameters have no characters that JSON escapes. */
static const char *assay__find(const assay *a, const char *name) {
    const char *p = a ? a->config : "{}";
    size_t n = strlen(name);
    for (p++; *p == '"' || *p == ',';) {
        const char *key = *p == ',' ? ++p : p;
        if (*key != '"') return NULL;
        p = assay__skip(key);
        if (*p != ':') return NULL;
        p++;
        if ((size_t)(p - key) == n + 3 && !strncmp(key + 1, name, n)) return p;
        if (*p == '"') p = assay__skip(p);
        else while (*p && *p != ',' && *p != '}') p++;
    }
    return NULL;
}

double assay_real(const assay *a, const char *name, double otherwise) {
    const char *p = assay__find(a, name);
    char *end;
    double x;
    if (!p) return otherwise;
    if (!strncmp(p, "true", 4) || !strncmp(p, "\"on\"", 4) || !strncmp(p, "\"yes\"", 5)) return 1;
    if (!strncmp(p, "false", 5) || !strncmp(p, "\"off\"", 5) || !strncmp(p, "\"no\"", 4)) return 0;
    x = strtod(*p == '"' ? p + 1 : p, &end);
    return end == p || (*p == '"' && end == p + 1) ? otherwise : x;
}

long assay_int(const assay *a, const char *name, long otherwise) {
    return (long)assay_real(a, name, (double)otherwise);
}

const char *assay_text(assay *a, const char *name, const char *otherwise) {
    const char *p = assay__find(a, name), *end;
    size_t n = 0;
    if (!p) return otherwise;
    if (*p != '"') {
        for (end = p; *end && *end != ',' && *end != '}'; end++) {}
    } else {
        end = assay__skip(p) - 1;
        p++;
    }
    for (; p < end && n + 1 < sizeof a->text; p++) {
        if (*p == '\\' && p + 1 < end) {
            p++;
            if (*p == 'u' && end - p >= 5) { /* what Go escapes of ASCII: < > & and controls */
                char hex[5] = {p[1], p[2], p[3], p[4], 0};
                a->text[n++] = (char)strtol(hex, NULL, 16);
                p += 4;
                continue;
            }
            a->text[n++] = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p == 'r' ? '\r' : *p;
            continue;
        }
        a->text[n++] = *p;
    }
    a->text[n] = 0;
    return a->text;
}

/* assay__tell sends a report; outcome is its last member. */
static void assay__tell(assay *a, const char *outcome) {
    char body[512];
    if (!a || !a->turn) return;
    snprintf(body, sizeof body, "{\"instance\":\"%s\",\"turn\":%lld,%s}", a->instance, a->turn, outcome);
    a->turn = 0;
    if (assay__post(a, "report", body)) assay__trouble(a, 0);
    else if (a->status == 410) assay__trouble(a, 1);
}

int assay_report(assay *a, double seconds) {
    char outcome[64], *comma;
    if (!(seconds >= 0 && seconds <= 1.7e308)) return -1;
    snprintf(outcome, sizeof outcome, "\"seconds\":%.9g", seconds);
    comma = strchr(outcome, ','); /* the decimal point of some locales */
    if (comma) *comma = '.';
    assay__tell(a, outcome);
    return 0;
}

void assay_fail(assay *a, const char *reason) {
    char outcome[256];
    size_t n = (size_t)snprintf(outcome, sizeof outcome, "\"failed\":\""), i;
    if (!reason || !*reason) reason = "failed";
    for (i = 0; reason[i] && i < 200; i++) {
        unsigned char c = (unsigned char)reason[i];
        outcome[n++] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : (char)c;
    }
    strcpy(outcome + n, "\"");
    assay__tell(a, outcome);
}

void assay_close(assay *a) {
    char body[128];
    if (!a) return;
    if (a->joined && !a->over && a->fd >= 0) {
        snprintf(body, sizeof body, "{\"instance\":\"%s\"}", a->instance);
        (void)assay__post(a, "leave", body);
    }
    assay__hangup(a);
    free(a);
}
#endif
