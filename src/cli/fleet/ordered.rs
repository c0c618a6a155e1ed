//! The thread that plans and carries out what another machine asks for, while this one continues to report.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::act::executor::Executor;
use crate::act::orders::service::OrderService;
use crate::cli::act::executor;
use crate::cli::settings::Settings;
use crate::config::{Access, Config};
use crate::core::fleet::order::{Accepts, RemoteRequest};
use crate::core::fleet::wire::encoder::Encoder;
use crate::source::os::clock;

/// How much may wait to be done.
const WAITING: usize = 64;

/// What carries orders out, for as long as the configuration says so.
pub(crate) struct Service {
    orders: OrderService,
    settings: Settings,
    accepts: fn(&Config) -> Accepts,
}

/// Returns what carries orders out, or why none are taken. Its executor is `staged` first, for the demo.
///
/// # Errors
/// Says why, for people.
pub(crate) fn service(
    settings: &Settings,
    accepts: fn(&Config) -> Accepts,
    own: Option<String>,
    staged: impl FnOnce(Executor) -> Executor,
) -> Result<Service, String> {
    let taken = taken(&settings.effective.config, accepts)?;
    let executor = staged(executor(settings).map_err(|failure| failure.lines().join("; "))?);
    let orders = OrderService::new(executor.waiting(Executor::PATIENCE, None), own, taken);
    Ok(Service { orders, settings: settings.clone(), accepts })
}

/// Returns which orders are taken.
///
/// # Errors
/// None are; why, for people.
fn taken(config: &Config, accepts: fn(&Config) -> Accepts) -> Result<Accepts, String> {
    match (accepts(config), config.access) {
        (Accepts::Never, _) => {
            Err("it does not accept orders (see accept_orders, or fleet.accept)".to_owned())
        }
        (_, Access::ReadOnly) => Err("its claimtop is read-only".to_owned()),
        (taken @ (Accepts::All | Accepts::DeadOnly), Access::Full) => Ok(taken),
    }
}

impl Service {
    /// Returns what carries orders out. A person may have changed the configuration since a connection began that lasts
    /// all day.
    ///
    /// # Errors
    /// None are taken by now; why, for people.
    fn now(&mut self) -> Result<&mut OrderService, String> {
        let config = self.settings.file_now();
        let config = config.map_err(|why| format!("its configuration can no longer be read: {why}"))?;
        self.orders.accept(taken(&config, self.accepts)?);
        Ok(&mut self.orders)
    }
}

/// Where orders go, and their answers come from.
pub(crate) struct OrderDesk {
    work: Option<Sender<(i64, RemoteRequest)>>,
    answers: Receiver<(i64, String)>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl OrderDesk {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no more threads for us.
    pub(crate) fn start(service: Result<Service, String>) -> io::Result<Self> {
        let (work, asked) = channel(WAITING);
        let (sender, answers) = channel(WAITING);
        let is_over = Arc::new(AtomicBool::new(false));
        let worker = Worker { service, asked, sender, is_over: Arc::clone(&is_over) };
        let thread = std::thread::Builder::new().name("orders".to_owned()).spawn(move || worker.run())?;
        Ok(Self { work: Some(work), answers, is_over, thread: Some(thread) })
    }

    /// Asks for work, whose answer bears the same number. What is too much is passed over: the asker finds that it
    /// was not done.
    pub(crate) fn ask(&self, number: i64, work: RemoteRequest) {
        if let Some(sender) = &self.work {
            let _ = sender.try_send((number, work));
        }
    }

    /// Waits for the next line to send, and returns it with the number of what it answers.
    pub(crate) async fn answer(&mut self) -> (i64, String) {
        match self.answers.recv().await {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    /// Waits until what was begun has ended, and begins nothing more.
    pub(crate) fn finish(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.work = None;
        self.answers.close();
        // A thread that panics has said so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Worker {
    service: Result<Service, String>,
    asked: Receiver<(i64, RemoteRequest)>,
    sender: Sender<(i64, String)>,
    is_over: Arc<AtomicBool>,
}

impl Worker {
    fn run(mut self) {
        while let Some((number, work)) = self.asked.blocking_recv() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let Ok(line) = self.answer(&work) else { continue };
            // An asker that has gone asks anew.
            let _ = self.sender.blocking_send((number, line));
        }
    }

    fn answer(&mut self, work: &RemoteRequest) -> serde_json::Result<String> {
        let steady = clock::lasting();
        let service = match &mut self.service {
            Ok(service) => service,
            Err(why) => return Encoder::refused(work, why),
        };
        match work {
            // What has become of earlier ones may always be asked.
            RemoteRequest::Settle(settle) => Encoder::receipt(&service.orders.settle(settle)),
            RemoteRequest::Plan(ask) => match service.now() {
                Ok(orders) => Encoder::plans(ask.number, &orders.plan(ask, steady)),
                Err(why) => Encoder::refused(work, &why),
            },
            RemoteRequest::Do(order) => match service.now() {
                Ok(orders) => Encoder::receipt(&orders.order(order, steady)),
                Err(why) => Encoder::refused(work, &why),
            },
        }
    }
}
