// The door to libinih, the reader of syncd.conf. Its one Swift owner is SyncDaemon.
// inih exports no version: Debian 12 has release 55, and Tests/WallsTests reads a small file to see that it behaves.
#ifndef SYNCD_CINIH_SHIM_H
#define SYNCD_CINIH_SHIM_H

#include <ini.h>

#endif
