// V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009, for the reflected
// polynomial 0x04C11DB7: 64 bytes at a time are folded into four registers, these into one, and that by Barrett into 32 bits.
// The constants are powers of x modulo the polynomial, as the paper gives them.
#include "CChecksum.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("pclmul,sse4.1")))

// `state`, moved on by as many bits as the two constants stand for, and `next` behind it.
TARGET static inline __m128i fold(__m128i state, __m128i constants, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(state, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(state, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

TARGET static inline __m128i load(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)(const void *)bytes); }

TARGET static uint32_t reduce(__m128i state, __m128i by16) {
    const __m128i halves = _mm_setr_epi32(~0, 0, ~0, 0);
    const __m128i by8 = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    __m128i moved = _mm_clmulepi64_si128(state, by16, 0x10);
    state = _mm_xor_si128(_mm_srli_si128(state, 8), moved);
    moved = _mm_srli_si128(state, 4);
    state = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(state, halves), by8, 0x00), moved);
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(state, halves), barrett, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, halves), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(state, quotient), 1);
}

// `count` is a multiple of 16, and 64 at least.
TARGET static uint32_t checksum(const uint8_t *bytes, size_t count, uint32_t previous) {
    const __m128i by64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i by16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const uint8_t *end = bytes + count;
    __m128i first = _mm_xor_si128(load(bytes), _mm_cvtsi32_si128((int)~previous));
    __m128i second = load(bytes + 16), third = load(bytes + 32), fourth = load(bytes + 48);
    for (bytes += 64; end - bytes >= 64; bytes += 64) {
        first = fold(first, by64, load(bytes));
        second = fold(second, by64, load(bytes + 16));
        third = fold(third, by64, load(bytes + 32));
        fourth = fold(fourth, by64, load(bytes + 48));
    }
    first = fold(first, by16, second);
    first = fold(first, by16, third);
    first = fold(first, by16, fourth);
    for (; bytes < end; bytes += 16) first = fold(first, by16, load(bytes));
    return ~reduce(first, by16);
}

uint32_t cchecksum_crc32(const void *block, size_t count, uint32_t previous, size_t *taken) {
    *taken = 0;
    if (count < 64 || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return previous;
    *taken = count & ~(size_t)15;
    return checksum(block, *taken, previous);
}

#else

uint32_t cchecksum_crc32(const void *block, size_t count, uint32_t previous, size_t *taken) {
    (void)block;
    (void)count;
    *taken = 0;
    return previous;
}

#endif
