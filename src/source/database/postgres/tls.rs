//! TLS by rustls, with as much verification as `sslmode` asks for.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::target::Tls;
use crate::core::model::Untrusted;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::plain::small;

/// The most bytes of root certificates that are read: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// Makes the TLS side of connections.
pub(crate) struct Connector(Arc<ClientConfig>);

impl Connector {
    /// Prepares for a mode; the roots are those of a file, or Mozilla's.
    pub(crate) fn new(tls: Tls, root_cert: Option<&Path>) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let wanted = match tls {
            Tls::Disable | Tls::Prefer => CertificateChecks::Nothing,
            Tls::Require if root_cert.is_none() => CertificateChecks::Nothing,
            Tls::Require | Tls::VerifyCa => CertificateChecks::Root,
            Tls::VerifyFull => CertificateChecks::RootAndName,
        };
        let inner = match wanted {
            CertificateChecks::Nothing => None,
            CertificateChecks::Root | CertificateChecks::RootAndName => {
                let roots = Arc::new(roots(root_cert)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
                Some(verifier.build().map_err(|error| format!("no usable root certificate: {error}"))?)
            }
        };
        let verifier = Verifier { inner, wanted, provider: Arc::clone(&provider) };
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = versions
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }

    /// Protects a wire to a host of this name.
    pub(crate) async fn protect(&self, host: &str, wire: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(&self.0)).connect(name, wire).await
    }
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let Some(path) = file else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let failed =
        |why: String| format!("failed to read root certificates {}: {why}", Untrusted::from_path(path));
    let path = path.canonicalize().map_err(|error| failed(error.to_string()))?;
    let bytes = small(&path, MAX_BYTES).map_err(|errno| failed(errno_text(errno)))?;
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        store.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if store.is_empty() { Err(failed("there is none in it".to_owned())) } else { Ok(store) }
}

/// Which parts of a certificate must be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CertificateChecks {
    Nothing,
    Root,
    RootAndName,
}

/// Checks certificates as far as requested.
#[derive(Debug)]
struct Verifier {
    inner: Option<Arc<WebPkiServerVerifier>>,
    wanted: CertificateChecks,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        let verified = inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.wanted == CertificateChecks::Root => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
