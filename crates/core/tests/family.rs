//! A family of another crate, made by the macro, to which many threads add at once.

use trammel_core::entry::About;

/// A row of the table.
#[derive(Debug)]
pub struct Entry {
    about: About,
}

const fn entry(name: &'static str, aliases: &'static [&'static str]) -> Entry {
    Entry {
        about: About {
            name,
            aliases,
            summary: "an animal",
            references: &["Linnaeus 1758"],
            params: &[],
        },
    }
}

static HORSE: Entry = entry("horse", &["equus"]);
static ZEBRA: Entry = entry("zebra", &["stripes"]);
static TIGER: Entry = entry("tiger", &["stripes"]);
static ALL: &[&Entry] = &[&HORSE];

static DOCS: &[&str] = &["An animal.\n\n# What it does\nIt eats.\n"; 8];

trammel_core::family!("animal");

#[test]
fn of_many_threads_that_claim_a_name_one_entry_gets_it() {
    assert_eq!(find("equus").map(|entry| entry.about.name), Some("horse"));
    let winners: Vec<&str> = std::thread::scope(|scope| {
        let claim = |n| {
            let entry = if n % 2 == 0 { &ZEBRA } else { &TIGER };
            scope.spawn(move || register(entry).is_ok().then_some(entry.about.name))
        };
        let claims: Vec<_> = (0..16).map(claim).collect();
        let names = claims.into_iter().map(|claim| claim.join().unwrap());
        names.flatten().collect()
    });
    // The same entry may be registered again, so all eight that claim it succeed, and no other.
    assert_eq!(winners, [winners[0]; 8]);
    assert_eq!(all().len(), 2);
    assert_eq!(find("stripes").unwrap().about.name, winners[0]);
}
