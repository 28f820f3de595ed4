//! A store in a bucket of S3, Google Cloud Storage or Azure.
//!
//! Requests wait in the thread that makes them: a runtime of one thread, in this file alone,
//! carries them out. What identifies the user comes from the environment, as the tools of each
//! service have it (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`,
//! `AZURE_STORAGE_ACCOUNT_KEY`, …). `object_store` asks again for three minutes where a service
//! does not answer. Nothing is listed: a run costs a request to look and one to put, and two to
//! compare where it was there.

use super::place::Place;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Requests that are on their way at once: services take thousands a second, and each takes tens
/// of milliseconds.
const AT_ONCE: usize = 256;

/// Objects whose names begin with a path.
#[derive(Debug)]
pub(super) struct Objects {
    url: String,
    prefix: Path,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
}

impl Objects {
    /// The bucket and path of `url`, such as `s3://lab/runs`.
    pub(super) fn open(url: &str) -> io::Result<Objects> {
        let place = url::Url::parse(url).map_err(io::Error::other)?;
        let (store, prefix) =
            object_store::parse_url_opts(&place, std::env::vars()).map_err(|why| told(&why))?;
        let mut runtime = Builder::new_current_thread();
        Ok(Objects {
            url: url.trim_end_matches('/').to_owned(),
            prefix,
            store: store.into(),
            runtime: runtime.enable_all().build()?,
        })
    }

    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.prefix))
    }

    fn put(&self, name: &str, text: &str, mode: PutMode) -> Result<(), Error> {
        let (path, text) = (self.path(name), PutPayload::from(text.to_owned()));
        let options = PutOptions::from(mode);
        let put = self.store.put_opts(&path, text, options);
        self.runtime.block_on(put).map(drop)
    }
}

/// An error that was asked again for already, in one line.
fn told(why: &Error) -> io::Error {
    let text = why.to_string();
    io::Error::other(text.lines().next().unwrap_or_default().to_owned())
}

/// The text at `path`; nothing where there is none.
async fn read(store: Arc<dyn ObjectStore>, path: Path) -> io::Result<Option<String>> {
    let bytes = match store.get(&path).await {
        Ok(found) => found.bytes().await.map_err(|why| told(&why))?,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(why) => return Err(told(&why)),
    };
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

impl Place for Objects {
    fn get(&self, name: &str) -> io::Result<Option<String>> {
        let store = Arc::clone(&self.store);
        self.runtime.block_on(read(store, self.path(name)))
    }

    fn get_all(&self, names: &[String]) -> Vec<io::Result<Option<String>>> {
        let mut all = Vec::with_capacity(names.len());
        for some in names.chunks(AT_ONCE) {
            let mut found: Vec<_> = some.iter().map(|_| Ok(None)).collect();
            self.runtime.block_on(async {
                let mut asked = JoinSet::new();
                for (at, name) in some.iter().enumerate() {
                    let (store, path) = (Arc::clone(&self.store), self.path(name));
                    asked.spawn(async move { (at, read(store, path).await) });
                }
                while let Some(answer) = asked.join_next().await {
                    let (at, text) = answer.expect("a request does not panic");
                    found[at] = text;
                }
            });
            all.append(&mut found);
        }
        all
    }

    fn put_new(&self, name: &str, text: &str) -> io::Result<bool> {
        match self.put(name, text, PutMode::Create) {
            Ok(()) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(why) => Err(told(&why)),
        }
    }

    fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let put = self.put(name, text, PutMode::Overwrite);
        put.map_err(|why| told(&why))
    }

    fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }
}
