//! Streams sent and received on this machine, by us and by other generators in turn.

use super::{About, Found, OURS, plan, push, word};
use crate::choice::Choice;
use crate::spec::Streams;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_core::label::Label;
use trammel_ground::Unsupported;
use trammel_streams::achieved::{Achieved, Wanted};
use trammel_streams::peers::Peer;
use trammel_streams::rig::Rig;
use trammel_transport::points::{Failure, Watch};

/// So often is looked whether the user has interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// Sends every stream of `wanted`, and adds a row for each system.
pub(super) fn measure(wanted: &Streams, choice: &Choice, watch: &dyn Watch, found: &mut Found) {
    let rig = Rig::new();
    if let Some(why) = rig.refused() {
        let note = format!("Streams went over loopback, not between namespaces: {why}.");
        found.notes.push(note);
    }
    let (quick, full) = wanted.seconds;
    let of_choice = if choice.is_full { full } else { quick };
    let seconds = choice.seconds.unwrap_or(of_choice);
    // Of our own nothing is named; a peer that is not installed is left out from then on.
    let mut systems: Vec<Option<Peer>> = vec![None];
    systems.extend(choice.peers.iter().copied().map(Some));
    let mut rows: Vec<Vec<(About, Achieved)>> = systems.iter().map(|_| Vec::new()).collect();
    let mut missing: Vec<Peer> = Vec::new();
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                if watch.is_interrupted() {
                    stop.store(true, Ordering::SeqCst);
                }
                std::thread::sleep(LOOK);
            }
        });
        for about in plan(wanted, OURS, Label::Measured) {
            let stream = Wanted {
                protocol: about.protocol,
                bytes: about.bytes,
                pps: about.imposed_pps,
                seconds,
            };
            // The systems take turns at each stream, so that what else runs on the machine meets
            // all of them.
            for (system, rows) in systems.iter().zip(&mut rows) {
                let (name, came) = match system {
                    None => (OURS, rig.send(&stream, &stop)),
                    Some(peer) if missing.contains(peer) => continue,
                    Some(peer) => (peer.name(), peer.send(&rig, &stream, &stop)),
                };
                if stop.load(Ordering::SeqCst) {
                    found.is_interrupted = true;
                    break;
                }
                let about = About {
                    system: name.to_owned(),
                    path: rig.path(),
                    seconds: Some(seconds),
                    ..about.clone()
                };
                match came {
                    Ok(achieved) => rows.push((about, achieved)),
                    Err(why) if why.is::<Unsupported>() => {
                        missing.extend(*system);
                        found.lacks = true;
                        found.notes.push(format!("{name} was left out: {why:#}."));
                        continue;
                    }
                    Err(why) => {
                        let failure = Failure {
                            point: format!("{name}, {}", point(&about)),
                            seed: 1,
                            why: format!("{why:#}"),
                        };
                        watch.failed(&failure);
                        found.failures.push(failure);
                        continue;
                    }
                }
                watch.sent();
            }
            if found.is_interrupted {
                break;
            }
        }
        over.store(true, Ordering::SeqCst);
    });
    for (about, achieved) in rows.iter().flatten() {
        push(&mut found.table, about, Some(achieved));
    }
}

fn point(about: &About) -> String {
    format!(
        "{} {} B {} pps",
        word(about.protocol),
        about.bytes,
        about.imposed_pps
    )
}
