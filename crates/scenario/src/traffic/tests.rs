//! Traffic files: what is read, and how faults are shown.

use super::*;
use crate::Reading;
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::Meter;

fn read(text: &str) -> Result<TrafficFile, String> {
    let text = format!("subject = 'traffic'\n{text}");
    TrafficFile::parse("t.toml", &text, FilePath::new("."), &Reading::default())
        .map_err(|why| why.to_string())
}

const PATH: &str = "[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n";

#[test]
fn the_words_of_a_file_make_the_streams_that_those_of_a_command_line_make() {
    for (words, rate, bytes) in [
        ("rate = 1000", 1000.0, 512.0),
        ("rate = '2 kpps'\nsize = 100", 2000.0, 100.0),
        ("gap = '1 ms'\nsize = '64 B'", 1000.0, 64.0),
        ("gap = 'exponential:mean=0.01'", 100.0, 512.0),
        (
            "gap = { distribution = 'exponential', rate = '10 kpps' }",
            1e4,
            512.0,
        ),
        (
            "gap = { distribution = 'exponential', mean = '2 ms' }",
            500.0,
            512.0,
        ),
        (
            "rate = 10\nsize = { distribution = 'uniform', min = '100 B', max = 300 }",
            10.0,
            200.0,
        ),
    ] {
        let file = read(&format!("{PATH}[[stream]]\n{words}")).expect(words);
        let predicted = file.first().streams[0].source.predicted();
        let near = |found: Option<f64>, wanted: f64| {
            let found = found.expect("it has a mean");
            assert!((found / wanted - 1.0).abs() < 2e-3, "{words}: {found}");
        };
        near(predicted.mean_rate, rate);
        near(predicted.mean_bytes, bytes);
    }
    let text = format!("{PATH}[[stream]]\napp = 'voip'\nprotocol = 'tcp'\nround_trip = true");
    let file = read(&text).expect("it is right");
    let stream = &file.first().streams[0];
    assert_eq!(
        (stream.protocol, stream.meter),
        (Protocol::Tcp, Meter::RoundTrip)
    );
    assert_eq!(stream.name, "stream-1");
    // The run's own length.
    assert_eq!(stream.limits.duration, Some(Span::from_secs(10)));
    assert_eq!(file.first().path.queue_packets(), 1000);
}

#[test]
fn copies_have_names_and_chances_of_their_own() {
    let text = format!(
        "{PATH}[[stream]]\nname = 'v'\ncount = 3\nrate = 10\n[[stream]]\nrate = 1\nseed = 7"
    );
    let file = read(&text).expect("it is right");
    let streams = &file.first().streams;
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names, ["v-1", "v-2", "v-3", "stream-2"]);
    assert!(streams[0].seed != streams[1].seed && streams[1].seed != streams[2].seed);
    assert_eq!(streams[3].seed, 7);
    let again = read(&text).expect("it is right");
    assert_eq!(again.first().streams[2].seed, streams[2].seed);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, said) in [
        ("[[stream]]\nrate = 1", "needs `path`"),
        ("[path]\nrate = '1 Mbit/s'", "needs `stream`"),
        (
            "[path]\ndelay = '1 ms'\n[[stream]]\nrate = 1",
            "needs `rate`",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrat = 1",
            "did you mean `rate`?",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nsize = 100",
            "when packets leave",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\nsize = 15",
            "a payload has 16 bytes",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\ngap = 'cauchy'",
            "leave `rate` out",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\ngap = 'exponental'",
            "exponential",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\napp = 'voip'",
            "exclude",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\napp = 'viop'",
            "voip",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\nstart = '11 s'",
            "never starts",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\nname = 'a'\n[[stream]]\nrate = 1\n\
             name = 'a'",
            "called `a`",
        ),
        (
            "[path]\nrate = '1 Mbit/s'\n[[stream]]\nrate = 1\n\
             gap = { distribution = 'exponential', rate = 5 }",
            "given twice",
        ),
    ] {
        let refused = read(text).expect_err(text);
        assert!(refused.contains(said), "{refused}");
        assert!(refused.contains("t.toml:"), "{refused}");
    }
}

#[test]
fn a_sweep_makes_points() {
    let text = format!(
        "{PATH}[[stream]]\nname = 's'\nrate = 1\n[sweep]\n'stream.s.rate' = [100, 200]\n\
         'path.delay' = ['1 ms', '2 ms']"
    );
    let file = read(&text).expect("it is right");
    assert_eq!(file.points.len(), 4);
    let last = &file.points[3].scenario;
    assert_eq!(last.path.delay, Span::from_ms(2));
    assert_eq!(last.streams[0].source.predicted().mean_rate, Some(200.0));
}
