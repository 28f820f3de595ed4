//! What requests get for replies.

use super::ControlSocket;
use crate::control::protocol::{Call, Request, Session};
use crate::engine::Ctx;
use crate::engine::handlers::{HandlerRef, NotFound};
use crate::host::reason;

impl ControlSocket {
    /// Answers one request.
    pub(super) fn reply(&mut self, ctx: &mut Ctx, request: Request, session: &mut Session) {
        if self.key.is_some() && !session.is_proven && !matches!(request, Request::Auth(_)) {
            session.say(
                530,
                "Permission denied: prove the key with AUTH first",
                false,
            );
            return;
        }
        match request {
            Request::Auth(proof) => self.authenticate(proof, session),
            Request::Read(name, parameter) => {
                self.answer_read(ctx, &name, &parameter, session);
            }
            Request::Write(name, value) => self.answer_write(ctx, &name, &value, session),
            Request::Check(name, to_write) => self.answer_check(ctx, &name, to_write, session),
            Request::Llrpc(name, data) => self.call_by_number(ctx, &name, &data, session),
        }
    }

    fn answer_read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str, session: &mut Session) {
        let Some(of) = self.find(ctx, name, session) else {
            return;
        };
        if !of.handler.read {
            session.say(530, &format!("Handler '{name}' write-only"), false);
            return;
        }
        let result = if parameter.is_empty() || of.handler.read_param {
            ctx.within_reach(self, |ctx| ctx.read_handler(&of, parameter))
        } else {
            Err(format!("read handler '{name}' does not take parameters"))
        };
        let remarks = ctx.take_remarks().join("\n");
        match result {
            Ok(data) if remarks.is_empty() => {
                session.say(200, &format!("Read handler '{name}' OK"), false);
                session.give(data.as_bytes());
            }
            result => {
                let text = format!("{remarks}\n{}", result.err().unwrap_or_default());
                let lines = said(&text);
                session.say_all(590, &format!("Read handler '{name}' error"), &lines);
            }
        }
    }

    fn answer_write(&mut self, ctx: &mut Ctx, name: &str, value: &str, session: &mut Session) {
        let Some(of) = self.find(ctx, name, session) else {
            return;
        };
        if !of.handler.write {
            session.say(530, &format!("Handler '{name}' read-only"), false);
            return;
        }
        if self.read_only {
            session.say(530, &format!("Permission denied for '{name}'"), false);
            return;
        }
        let result = ctx.within_reach(self, |ctx| ctx.write_handler(&of, value));
        let remarks = ctx.take_remarks().join("\n");
        if result.is_ok() && remarks.is_empty() {
            session.say(200, &format!("Write handler '{name}' OK"), false);
        } else {
            let text = format!("{remarks}\n{}", result.err().unwrap_or_default());
            let lines = said(&text);
            session.say_all(520, &format!("Write handler '{name}' error"), &lines);
        }
    }

    fn answer_check(&mut self, ctx: &mut Ctx, name: &str, to_write: bool, session: &mut Session) {
        let Some(of) = self.find(ctx, name, session) else {
            return;
        };
        let (kind, able) = if to_write {
            ("Write", of.handler.write)
        } else {
            ("Read", of.handler.read)
        };
        if of.handler.private || !able {
            let able = if to_write { "writable" } else { "readable" };
            session.say(511, &format!("Handler '{name}' not {able}"), false);
        } else if to_write && self.read_only {
            session.say(530, &format!("Permission denied for '{name}'"), false);
        } else {
            session.say(200, &format!("{kind} handler '{name}' OK"), false);
        }
    }

    /// Gives a nonce, or looks at the proof that was made of it.
    fn authenticate(&mut self, proof: Option<String>, session: &mut Session) {
        let Some(key) = &self.key else {
            session.say(200, "No key is needed", false);
            return;
        };
        match (proof, session.nonce.take()) {
            (None, _) => match key.nonce() {
                Ok(nonce) => {
                    session.say(200, &nonce, false);
                    session.nonce = Some(nonce);
                }
                Err(why) => session.say(590, &format!("no nonce: {}", reason(&why)), false),
            },
            (Some(proof), Some(nonce)) if key.is_proven(&nonce, &proof) => {
                session.is_proven = true;
                session.say(200, "Key proven", false);
            }
            _ => {
                session.say(530, "Permission denied: this proves no key", false);
                session.closing = true;
            }
        }
    }

    /// Does `element#hexadecimal`, where the element takes such calls.
    fn call_by_number(&mut self, ctx: &mut Ctx, name: &str, data: &[u8], session: &mut Session) {
        let number = name.split_once('#');
        let number =
            number.and_then(|(element, n)| Some((element, u32::from_str_radix(n, 16).ok()?)));
        let Some((element, number)) = number else {
            session.say(500, &format!("Bad LLRPC syntax '{name}'"), false);
            return;
        };
        let Some(element_id) = ctx.find(element, None) else {
            session.say(510, &format!("No element named '{element}'"), false);
            return;
        };
        let call = Call::of(number);
        if !call.is_flat || (self.read_only && call.takes_bytes > 0) {
            session.say(501, &format!("Cannot call LLRPC '{name}' remotely"), false);
            return;
        }
        if data.len() != call.takes_bytes {
            let text = format!("LLRPC '{name}' takes {} bytes", call.takes_bytes);
            session.say(500, &text, false);
            return;
        }
        match ctx.with(element_id, |one, ctx| one.call_by_number(ctx, number, data)) {
            Some(Ok(answer)) => {
                session.say(200, &format!("LLRPC '{name}' OK"), false);
                session.give(&answer);
            }
            Some(Err(why)) => session.say(522, &format!("LLRPC '{name}' error: {why}"), false),
            None => session.say(
                522,
                &format!("LLRPC '{name}' error: element is busy"),
                false,
            ),
        }
    }

    /// Finds a handler that is not private, or says that there is none.
    fn find(&mut self, ctx: &mut Ctx, name: &str, session: &mut Session) -> Option<HandlerRef> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let full = match name.split_once('.') {
            _ if !self.proxy.is_empty() => format!("{}.{name}", self.proxy),
            Some((number, _)) if is_number(number) => format!("#{name}"),
            _ => name.to_owned(),
        };
        match ctx.within_reach(self, |ctx| ctx.find_handler(&full, None)) {
            // A private one is as if it were not.
            Ok(of) if !of.handler.private => Some(HandlerRef {
                is_outside: true,
                ..of
            }),
            Err(NotFound::Element(element)) => {
                session.say(510, &format!("No element named '{element}'"), false);
                None
            }
            Ok(_) | Err(NotFound::Handler(_)) => {
                session.say(511, &format!("No handler named '{name}'"), false);
                None
            }
        }
    }
}

/// The lines that are not empty.
fn said(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}
