//! The page of one interaction: what is asked, the answer, and what became of it.

pub(super) mod ended;
mod facts;
pub(super) mod show;
pub(super) mod submit;
pub(super) mod view;
