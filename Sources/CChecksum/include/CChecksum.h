// CRC-32 (ISO-HDLC, the one of zlib) by carry-less multiplication, where the processor has it.
#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// The sum over what `previous` was over, and then the bytes of `block`. Takes as many of them as it can, which is none on
// other processors, and says in `taken` how many.
uint32_t cchecksum_crc32(const void *block, size_t count, uint32_t previous, size_t *taken);

#endif
