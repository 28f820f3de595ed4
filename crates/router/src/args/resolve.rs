//! Arguments against a table of parameters: which argument is whose, and the values by name.
//!
//! An argument may be a keyword's if an identifier and a space begin it (`LIMIT 10`). Parameters
//! take theirs in the order of the table: the last one with their keyword; if they have a place,
//! also the first argument not yet taken, provided that it has no keyword or the parameter is
//! mandatory and was not given by keyword. The places end at the first argument that was taken by
//! keyword.

use super::addresses::{EtherAddress, Ip6Prefix, IpPrefix};
use super::annotations::AnnoField;
use super::handler_call::HandlerCall;
use super::machine_names::unknown_name;
#[cfg(test)]
use super::names::BuiltIn;
use super::names::Names;
use super::text::{is_space, split_args};
use super::{Need, Param, Value};
use crate::diagnostic::{About, Diagnostic, Diagnostics, Landmark};
use std::net::{Ipv4Addr, Ipv6Addr};
use trammel_packet::timestamp::Timestamp;

/// The arguments of an element, by the names of its parameters.
///
/// Asking for a parameter that the table has not, or for another type than it has there, is a
/// mistake in the element and panics whatever the configuration is. A parameter without a value and
/// without a default is zero, empty or false; `opt_` tells it apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    resolved: Vec<Resolved>,
    rest: Vec<String>,
    /// Where each of `rest` stands among all arguments.
    rest_places: Vec<usize>,
    keyword_rest: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Resolved {
    name: &'static str,
    given: Vec<Value>,
    /// How often it was given; of a parameter not repeated only the last counts.
    times: usize,
    /// Where the argument stands that counts.
    place: Option<usize>,
    default: Value,
}

/// An argument as it waits for a parameter.
pub(super) struct Waiting<'a> {
    text: &'a str,
    /// Bytes of what may be its keyword; 0 where it has none.
    keyword: usize,
    taken: Taken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    No,
    ByPlace,
    ByKeyword,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(text: &'a str) -> Waiting<'a> {
        let inner = |c: char| c.is_ascii_alphanumeric() || "_:.?!".contains(c);
        let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = if begins {
            text.find(|c| !inner(c)).unwrap_or(text.len())
        } else {
            0
        };
        let after = text[end..].trim_start_matches(is_space);
        let keyword = if after.is_empty() || after.len() == text.len() - end {
            0
        } else {
            end
        };
        Waiting {
            text,
            keyword,
            taken: Taken::No,
        }
    }

    /// What may be its keyword; empty where it has none.
    pub(super) fn keyword(&self) -> &'a str {
        &self.text[..self.keyword]
    }

    fn value(&self) -> &'a str {
        self.text[self.keyword..].trim_start_matches(is_space)
    }
}

/// The arguments that are `param`'s, in their order, each with its place and without its keyword.
fn take<'a>(param: &Param, all: &mut [Waiting<'a>]) -> Vec<(usize, &'a str)> {
    let place = all.iter().position(|one| one.taken != Taken::ByPlace);
    let place = place.filter(|at| all[*at].taken == Taken::No);
    let mut mine = Vec::new();
    for (at, one) in all.iter_mut().enumerate() {
        if one.taken == Taken::No && one.keyword > 0 && one.keyword() == param.name {
            one.taken = Taken::ByKeyword;
            mine.push((at, one.value()));
        }
    }
    if let (Need::Mandatory | Need::Positional, Some(at)) = (param.need, place) {
        let one = &mut all[at];
        let wanted = mine.is_empty() && param.need == Need::Mandatory;
        if one.taken == Taken::No && (wanted || one.keyword == 0) {
            one.taken = Taken::ByPlace;
            mine.push((at, one.text));
            mine.sort_by_key(|(at, _)| *at);
        }
    }
    mine
}

impl Args {
    /// Resolves a configuration string; the errors are all those that it has, placed at `landmark`.
    pub fn resolve(
        params: &[Param],
        conf: &str,
        names: &dyn Names,
        landmark: Option<&Landmark>,
    ) -> Result<Args, Diagnostics> {
        Args::resolve_list(params, &split_args(conf), names, landmark)
    }

    /// Resolves arguments that are split already.
    pub fn resolve_list(
        params: &[Param],
        conf: &[String],
        names: &dyn Names,
        landmark: Option<&Landmark>,
    ) -> Result<Args, Diagnostics> {
        let mut all: Vec<Waiting> = conf.iter().map(|text| Waiting::new(text)).collect();
        let mut errors = Diagnostics::new();
        let mut args = Args {
            resolved: Vec::new(),
            rest: Vec::new(),
            rest_places: Vec::new(),
            keyword_rest: Vec::new(),
        };
        let is_rest = |need| matches!(need, Need::Rest | Need::KeywordRest);
        for param in params.iter().filter(|param| !is_rest(param.need)) {
            let mine = take(param, &mut all);
            let times = mine.len();
            let kept = if param.need == Need::Repeated {
                0
            } else {
                times.saturating_sub(1)
            };
            // An empty argument keeps the place of a parameter that is not given.
            let mine: Vec<(usize, &str)> = mine[kept..]
                .iter()
                .copied()
                .filter(|(_, text)| !text.is_empty())
                .collect();
            if mine.is_empty() && matches!(param.need, Need::Mandatory | Need::KeywordMandatory) {
                // Differs from Click: so is an empty argument, not only one that is not there.
                errors.error(
                    landmark,
                    format!("{}: required argument missing", param.name),
                );
            }
            let place = mine.last().map(|(at, _)| *at);
            let mut parse = |(at, text): (usize, &str)| match param.kind.parse(text, names) {
                Ok(value) => Some(value),
                Err(error) => {
                    let text_of_error = format!("{}: {error}", param.name);
                    let help = unknown_name(param.kind, text, names);
                    errors.error_about(About::Argument(at), text_of_error, help);
                    None
                }
            };
            let given = mine.into_iter().filter_map(&mut parse).collect();
            let default = Some(param.default)
                .filter(|text| !text.is_empty())
                .and_then(|text| param.kind.parse(text, names).ok());
            let default = default.unwrap_or_else(|| param.kind.nothing());
            args.resolved.push(Resolved {
                name: param.name,
                given,
                times,
                place,
                default,
            });
        }
        let has = |need| params.iter().any(|param| param.need == need);
        let (rest, keyword_rest) = (has(Need::Rest), has(Need::KeywordRest));
        let mut too_many = None;
        for (at, one) in all
            .iter()
            .enumerate()
            .filter(|(_, one)| one.taken == Taken::No)
        {
            if one.keyword > 0 && keyword_rest {
                args.keyword_rest
                    .push((one.keyword().into(), one.value().into()));
            } else if rest {
                args.rest.push(one.text.into());
                args.rest_places.push(at);
            } else if one.keyword > 0 {
                let text = format!("{}: unknown argument", one.keyword());
                errors.error_about(About::Argument(at), text, None);
            } else {
                too_many.get_or_insert(at);
            }
        }
        if let Some(at) = too_many {
            errors.error_about(About::Argument(at), "too many arguments", None);
        }
        if errors.has_errors() {
            Err(errors)
        } else {
            Ok(args)
        }
    }

    fn find(&self, name: &str) -> &Resolved {
        let found = self.resolved.iter().find(|one| one.name == name);
        found.unwrap_or_else(|| panic!("the element's table has no parameter `{name}`"))
    }

    /// The value of `name`, its default where it is not given.
    pub fn value(&self, name: &str) -> &Value {
        let one = self.find(name);
        one.given.last().unwrap_or(&one.default)
    }

    /// The values of `name` in the order in which they were given.
    pub fn all(&self, name: &str) -> &[Value] {
        &self.find(name).given
    }

    /// Whether `name` was given.
    pub fn given(&self, name: &str) -> bool {
        !self.find(name).given.is_empty()
    }

    /// Where among all arguments that stands which `said` is about: one that it names by its
    /// number, by its keyword or by its words.
    pub fn place_of(&self, said: &Diagnostic) -> Option<usize> {
        let rest = |at: usize| self.rest_places.get(at).copied();
        match said.about {
            Some(About::Argument(at)) => return Some(at),
            Some(About::Rest(at)) => return rest(at),
            None => {}
        }
        for numbered in ["pattern ", "empty pattern ", "input spec "] {
            let number = said.text.strip_prefix(numbered).unwrap_or_default();
            let digits = number.trim_start_matches(|c: char| c.is_ascii_digit());
            if let Ok(at) = number[..number.len() - digits.len()].parse() {
                return rest(at);
            }
        }
        let (first, _) = said.text.split_once([':', ' ']).unwrap_or((&said.text, ""));
        let named = self.resolved.iter().find(|one| one.name == first);
        let by_name = named.and_then(|one| one.place);
        let only = || match (
            &self.rest_places[..],
            self.resolved.iter().filter_map(|one| one.place).count(),
        ) {
            ([one], 0) => Some(*one),
            _ => None,
        };
        by_name.or_else(|| self.quoted(&said.text)).or_else(only)
    }

    /// Where the one argument stands that has a word which `text` has between quotes.
    fn quoted(&self, text: &str) -> Option<usize> {
        let mut words = text
            .split('\'')
            .skip(1)
            .step_by(2)
            .filter(|word| !word.is_empty());
        words.find_map(|word| {
            let mut has = self
                .rest
                .iter()
                .enumerate()
                .filter(|(_, text)| text.contains(word));
            let (at, _) = has.next()?;
            has.next().is_none().then(|| self.rest_places[at])
        })
    }

    /// How often `name` was given.
    pub fn times(&self, name: &str) -> usize {
        self.find(name).times
    }

    /// The arguments that no parameter took, as they are written.
    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// The keywords that no parameter has, each with what stands after it.
    pub fn keyword_rest(&self) -> &[(String, String)] {
        &self.keyword_rest
    }
}

/// What is wrong with a table itself: a default that is no value, a name twice or not a keyword, a
/// parameter by place after one that is by keyword only.
#[cfg(test)]
pub(crate) fn check_table(params: &[Param]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut keywords = false;
    for (at, param) in params.iter().enumerate() {
        let name = param.name;
        if params[..at].iter().any(|other| other.name == name) {
            wrong.push(format!("{name}: twice"));
        }
        if Waiting::new(&format!("{name} x")).keyword() != name {
            wrong.push(format!("{name}: not a keyword"));
        }
        let by_place = matches!(param.need, Need::Mandatory | Need::Positional);
        if by_place && keywords {
            wrong.push(format!("{name}: by place after parameters by keyword"));
        }
        keywords |= matches!(
            param.need,
            Need::Keyword | Need::KeywordMandatory | Need::Repeated
        );
        if !param.default.is_empty()
            && let Err(error) = param.kind.parse(param.default, &BuiltIn)
        {
            wrong.push(format!("{name}: default: {error}"));
        }
    }
    wrong
}

/// For each type of values: `get`, the value or its default, and `opt`, `None` where it was not
/// given.
macro_rules! getters {
    ($($get:ident $opt:ident $variant:ident $what:literal $out:ty: $from:expr;)*) => {
        impl Args {
            $(
                #[doc = concat!("The value of `name`, ", $what, ".")]
                pub fn $get(&self, name: &str) -> $out {
                    let Value::$variant(value) = self.value(name) else {
                        panic!("the parameter `{name}` is not {}", $what);
                    };
                    $from(value)
                }

                #[doc = concat!("The value of `name`, ", $what, ", if it was given.")]
                pub fn $opt(&self, name: &str) -> Option<$out> {
                    let value = self.$get(name);
                    self.given(name).then_some(value)
                }
            )*
        }
    };
}

getters! {
    int opt_int Int "a number with a sign" i64: |v: &i64| *v;
    uint opt_uint UInt "a number without a sign" u64: |v: &u64| *v;
    bandwidth opt_bandwidth UInt "a rate in bytes a second" u64: |v: &u64| *v;
    bool opt_bool Bool "a truth" bool: |v: &bool| *v;
    double opt_double Double "a real number" f64: |v: &f64| *v;
    seconds opt_seconds Time "a time" Timestamp: |v: &Timestamp| *v;
    timestamp opt_timestamp Time "a time of day" Timestamp: |v: &Timestamp| *v;
    text opt_text Text "a string" &str: String::as_str;
    data opt_data Data "a string of bytes" &[u8]: Vec::as_slice;
    ip opt_ip Ip "an IPv4 address" Ipv4Addr: |v: &Ipv4Addr| *v;
    ip_list opt_ip_list IpList "a list of IPv4 addresses" &[Ipv4Addr]: Vec::as_slice;
    ip6 opt_ip6 Ip6 "an IPv6 address" Ipv6Addr: |v: &Ipv6Addr| *v;
    prefix opt_prefix Prefix "an IPv4 prefix" IpPrefix: |v: &IpPrefix| *v;
    prefix6 opt_prefix6 Prefix6 "an IPv6 prefix" Ip6Prefix: |v: &Ip6Prefix| *v;
    ether opt_ether Ether "an Ethernet address" EtherAddress: |v: &EtherAddress| *v;
    anno opt_anno Anno "an annotation" AnnoField: |v: &AnnoField| *v;
    element opt_element Element "an element" Option<usize>: |v: &Option<usize>| *v;
    handler_call opt_handler_call HandlerCall "a call of a handler" &HandlerCall: |v| v;
}

#[cfg(test)]
mod tests;
