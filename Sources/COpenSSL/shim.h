// The door to OpenSSL, floor 3.0 (Debian 12). Its one Swift owner is Crypto.
// OpenSSL spells several calls as function-like macros, which Swift cannot see; each one we need is a function here.
#ifndef SYNCD_COPENSSL_SHIM_H
#define SYNCD_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

/// The link speaks TLS 1.3 and nothing else, so floor and ceiling are set together. 1 on success.
static inline int copenssl_pin_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version) == 1
        && SSL_CTX_set_max_proto_version(context, version) == 1;
}

/// An empty memory BIO answers "end of file" by default; the TLS pump needs "try again later" instead.
static inline void copenssl_empty_means_retry(BIO *memory) {
    BIO_set_mem_eof_return(memory, -1);
}

#endif
