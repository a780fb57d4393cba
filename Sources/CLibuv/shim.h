// The door to libuv, floor 1.44 (Debian 12). Its one Swift owner is EventLoop.
// Tests/WallsTests checks the floor against the library that is loaded, not only the one compiled against.
#ifndef SYNCD_CLIBUV_SHIM_H
#define SYNCD_CLIBUV_SHIM_H

#include <uv.h>

#endif
