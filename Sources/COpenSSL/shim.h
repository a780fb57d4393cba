// The door to OpenSSL, floor 3.0 (Debian 12). Its one Swift owner is Crypto.
// OpenSSL spells several calls as function-like macros, which Swift cannot see; each one we need is a function here.
#ifndef SYNCD_COPENSSL_SHIM_H
#define SYNCD_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

/// The link speaks TLS 1.3 and nothing else, so floor and ceiling are set together. 1 on success.
static inline int copenssl_pin_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version) == 1
        && SSL_CTX_set_max_proto_version(context, version) == 1;
}

/// The signatures we make and those we accept of the peer. 1 on success.
static inline int copenssl_pin_signatures(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_sigalgs_list(context, list) == 1 && SSL_CTX_set1_client_sigalgs_list(context, list) == 1;
}

/// No compression, no renegotiation, and nothing of a session is kept for resuming it.
static inline void copenssl_keep_it_plain(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// The longest certificate message a stranger may make us hold, in bytes.
static inline void copenssl_limit_certificates(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

/// An empty memory BIO answers "end of file" by default; the TLS pump needs "try again later" instead.
static inline void copenssl_empty_means_retry(BIO *memory) {
    BIO_set_mem_eof_return(memory, -1);
}

/// Says "not now, but later" of a read that found nothing.
static inline void copenssl_set_retry_read(BIO *source) {
    BIO_set_retry_read(source);
}

static inline void copenssl_clear_retry(BIO *source) {
    BIO_clear_retry_flags(source);
}

/// Where the bytes of a memory BIO are, and how many.
static inline long copenssl_memory(BIO *memory, char **bytes) {
    return BIO_get_mem_data(memory, bytes);
}

#endif
