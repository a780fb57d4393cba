// The door to libuv, floor 1.44 (Debian 12). Its one Swift owner is EventLoop.
// Tests/WallsTests checks the floor against the library that is loaded, not only the one compiled against.
#ifndef SYNCD_CLIBUV_SHIM_H
#define SYNCD_CLIBUV_SHIM_H

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <uv.h>

/// What the calling thread is called in `top`; the kernel keeps 15 bytes. `prctl` is variadic, and the C library's own
/// call for it hides behind _GNU_SOURCE: Swift sees neither.
static inline void clibuv_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// A counter that poll can wait for, closed on exec and never blocking; -1 and errno if there is none.
static inline int clibuv_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

#endif
