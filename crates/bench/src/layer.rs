//! A testbed around another: what it does not change, the other one answers.

use crate::ports::{Learned, Learning, PortFlow};
use crate::testbed::{LatencyOf, Observation, Plan, Testbed, Traffic, Unable};
use crate::transfer::{File, Protocol as Carrier, Transferred};
use crate::trial::Failure;
use trammel_core::label::Label;
use trammel_core::time::Span;

/// A testbed around another. What a layer leaves out goes to the testbed within.
pub trait Layer: std::fmt::Debug {
    /// The testbed within.
    fn bed(&self) -> &dyn Testbed;

    /// The testbed within, to be used.
    fn bed_mut(&mut self) -> &mut dyn Testbed;

    /// [`Testbed::offer`] of the layer.
    fn on_offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        self.bed_mut().offer(traffic, plan)
    }

    /// [`Testbed::offer_together`] of the layer.
    fn on_offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        self.bed_mut().offer_together(flows)
    }

    /// [`Testbed::learn`] of the layer.
    fn on_learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        self.bed_mut().learn(traffic, learning)
    }

    /// [`Testbed::transfer`] of the layer.
    fn on_transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.bed_mut().transfer(file)
    }
}

impl<L: Layer> Testbed for L {
    fn label(&self) -> Label {
        self.bed().label()
    }

    fn device(&self) -> String {
        self.bed().device()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.bed().line_fps(traffic)
    }

    fn ceiling_fps(&self, traffic: &Traffic) -> Option<f64> {
        self.bed().ceiling_fps(traffic)
    }

    fn pauses(&self) -> Span {
        self.bed().pauses()
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        self.bed().sources(traffic)
    }

    fn latency_of(&self) -> LatencyOf {
        self.bed().latency_of()
    }

    fn repeats_itself(&self) -> bool {
        self.bed().repeats_itself()
    }

    fn takes(&self, traffic: &Traffic, plan: &Plan) -> Option<Span> {
        self.bed().takes(traffic, plan)
    }

    fn resets(&self) -> Vec<String> {
        self.bed().resets()
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        self.on_offer(traffic, plan)
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        self.on_offer_together(flows)
    }

    fn learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        self.on_learn(traffic, learning)
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        self.bed().carries_files(carrier)
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.on_transfer(file)
    }
}
