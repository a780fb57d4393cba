// The door to libinih, the reader of syncd.conf. Its one Swift owner is Config.
// inih exports no version: Debian 12 has release 55, and Tests/WallsTests reads a small file to see that it behaves.
#ifndef SYNCD_CINIH_SHIM_H
#define SYNCD_CINIH_SHIM_H

#include <ini.h>

// inih cuts a line that does not fit its buffer (200 bytes), without a word. Debian's build lets the program choose the
// buffer, by variables that inih elsewhere does not have: weak, so that we find out instead of failing to link.
extern __attribute__((weak)) int ini_max_line;
extern __attribute__((weak)) int ini_initial_alloc;
extern __attribute__((weak)) bool ini_use_stack;

/// Asks for lines of `bytes`, to be called before anything is parsed. Returns how long a line may be after all, without
/// its end.
static inline int cinih_allow_lines(int bytes) {
    const int ending = 3;  // \r, \n and the zero byte
    if (!&ini_max_line || !&ini_initial_alloc || !&ini_use_stack) return INI_MAX_LINE - ending;
    ini_max_line = bytes + ending;
    ini_initial_alloc = bytes + ending;
    ini_use_stack = false;
    return bytes;
}

#endif
