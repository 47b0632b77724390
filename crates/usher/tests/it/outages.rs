//! What is around the service is cut, silent, slow, or not there: waits go on or end by their deadline, the rest of the
//! service goes on, and it recovers by itself (R-SEC-04).

mod database;
mod sqlite;
mod upstream;
