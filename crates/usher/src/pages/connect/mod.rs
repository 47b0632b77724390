//! The page of one interaction: what is asked, the answer, and what became of it.

pub(super) mod approve;
mod arguments;
pub(super) mod callback;
pub(super) mod ended;
pub(super) mod external;
pub(super) mod facts;
pub(super) mod leaving;
pub(super) mod oauth;
pub(super) mod returned;
pub(super) mod show;
pub(super) mod submit;
pub(super) mod view;
