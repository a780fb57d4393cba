// The door to zstd, floor 1.5 (Debian 12). Its one Swift owner is Compression.
#ifndef SYNCD_CZSTD_SHIM_H
#define SYNCD_CZSTD_SHIM_H

#include <zstd.h>

#endif
