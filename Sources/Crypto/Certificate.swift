/// The certificate that carries a node's key through TLS. OpenSSL 3.0 has no raw public keys (RFC 7250), so there has to
/// be one; nothing in it but the key is ever looked at, on either side.
import COpenSSL

enum Certificate {
    /// Self-signed, and valid from the first second to the last one that the format can say: clocks never cut the link.
    static func make(for pair: OpaquePointer) throws(CryptoError) -> OpaquePointer {
        ErrorQueue.clear()
        guard let certificate = unsafe X509_new() else { throw ErrorQueue.failure("making a certificate") }
        guard unsafe fill(certificate, pair) else {
            unsafe X509_free(certificate)
            throw ErrorQueue.failure("making a certificate")
        }
        return unsafe certificate
    }

    private static func fill(_ certificate: OpaquePointer, _ pair: OpaquePointer) -> Bool {
        let version3 = 2
        guard unsafe X509_set_version(certificate, version3) == 1,
            unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1,
            unsafe ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1,
            unsafe ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1,
            unsafe X509_set_pubkey(certificate, pair) == 1,
            let name = unsafe X509_get_subject_name(certificate),
            unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "syncd", -1, -1, 0) == 1,
            unsafe X509_set_issuer_name(certificate, name) == 1
        else { return false }
        // Ed25519 hashes by itself, so no digest is named.
        return unsafe X509_sign(certificate, pair, nil) > 0
    }
}
