//! The thread that looks: one request after the other, each with a limit, so that a look that hangs holds up no other.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

/// How long a request may take: a look takes some milliseconds, a search for lost versions up to seconds.
pub(super) const LIMIT: Duration = Duration::from_secs(20);
/// How many looks may hang at most; each keeps a thread.
const MOST_HUNG: usize = 3;

/// Something to do on the thread.
type Job<D> = Box<dyn FnOnce(&mut D) + Send>;

/// Why a request was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WorkerError {
    #[error("the look took longer than its limit: nothing is known; ask again later")]
    TimedOut,
    #[error("several looks hang on this machine: nothing is known; ask the person")]
    TooManyHang,
    #[error("the look failed: nothing is known")]
    Failed,
}

/// The thread, made when it is first needed and again after one hangs.
pub(super) struct Worker<D> {
    make: Box<dyn Fn() -> D + Send + Sync>,
    state: Mutex<WorkerState<D>>,
}

struct WorkerState<D> {
    jobs: Option<Sender<Job<D>>>,
    /// Each thread has a copy for as long as it lives: one whose look comes to an end after all no longer hangs.
    alive: Arc<()>,
}

impl<D: 'static> Worker<D>
where
    D: Send,
{
    /// Prepares a thread for what `make` makes there.
    pub(super) fn new(make: impl Fn() -> D + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), state: Mutex::new(WorkerState { jobs: None, alive: Arc::new(()) }) }
    }

    /// Does something on the thread, at most for so long.
    ///
    /// # Errors
    /// It took longer, or too many looks hang already.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        job: impl FnOnce(&mut D) -> T + Send + 'static,
    ) -> Result<T, WorkerError> {
        let mut state = self.state.lock().await;
        let hung = Arc::strong_count(&state.alive) - 1;
        if state.jobs.is_none() && hung >= MOST_HUNG {
            return Err(WorkerError::TooManyHang);
        }
        let (answered, answer) = oneshot::channel();
        let job: Job<D> = Box::new(move |desk| drop(answered.send(job(desk))));
        let jobs = match state.jobs.take() {
            Some(jobs) => jobs,
            None => self.start(Arc::clone(&state.alive)).ok_or(WorkerError::Failed)?,
        };
        jobs.send(job).map_err(|_| WorkerError::Failed)?;
        match timeout(limit, answer).await {
            Ok(Ok(answer)) => {
                state.jobs = Some(jobs);
                Ok(answer)
            }
            // The thread ended amid it: the next request gets a new one.
            Ok(Err(_)) => Err(WorkerError::Failed),
            // The thread ends with its look.
            Err(_) => Err(WorkerError::TimedOut),
        }
    }

    fn start(&self, alive: Arc<()>) -> Option<Sender<Job<D>>> {
        let (jobs, queue) = channel::<Job<D>>();
        let mut desk = (self.make)();
        let work = move || {
            queue.into_iter().for_each(|job| job(&mut desk));
            drop(alive);
        };
        std::thread::Builder::new().name("look".to_owned()).spawn(work).ok().map(|_| jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_look_that_hangs_holds_up_no_other() {
        let worker = Worker::new(|| 0_u32);
        let (release, hang) = channel::<()>();
        let far = Duration::from_secs(600);
        runtime().block_on(async {
            assert_eq!(
                worker
                    .run(far, |count| {
                        *count += 1;
                        *count
                    })
                    .await,
                Ok(1)
            );
            let hung = worker.run(Duration::from_millis(1), move |_| hang.recv().is_ok()).await;
            assert_eq!(hung, Err(WorkerError::TimedOut));
            // A new thread with a new state answers.
            assert_eq!(worker.run(far, |count| *count).await, Ok(0));
        });
        drop(release);
    }

    #[test]
    fn many_that_hang_are_not_joined_by_more() {
        let worker = Worker::new(|| ());
        let (release, hang) = channel::<()>();
        let hang = std::sync::Arc::new(std::sync::Mutex::new(hang));
        runtime().block_on(async {
            for _ in 0..MOST_HUNG {
                let hang = std::sync::Arc::clone(&hang);
                let hung = worker.run(Duration::from_millis(1), move |()| {
                    hang.lock().map(|hang| hang.recv().is_ok()).is_ok()
                });
                assert_eq!(hung.await, Err(WorkerError::TimedOut));
            }
            assert_eq!(worker.run(LIMIT, |()| ()).await, Err(WorkerError::TooManyHang));
            // Their looks end after all.
            drop(release);
            while worker.run(LIMIT, |()| ()).await.is_err() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    }

    #[test]
    fn a_job_that_panics_fails_alone() {
        let worker = Worker::new(|| 7);
        runtime().block_on(async {
            let failed = worker
                .run(LIMIT, |_| {
                    if true {
                        panic!("a test")
                    }
                })
                .await;
            assert_eq!(failed, Err(WorkerError::Failed));
            assert_eq!(worker.run(LIMIT, |seven| *seven).await, Ok(7));
        });
    }
}
