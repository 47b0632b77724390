//! `kill -9` at every fail point, and a new start on what is left (R-SEC-04): the credential is there and opens, or its
//! owner is asked again; never half of it, nothing twice; and whoever was talking to the process hears at once that it is
//! gone.

mod account;
mod callback;
mod legacy;
mod modern;
mod page;
pub(crate) mod process;
mod refresh;
mod scene;

use usher_store::FailPoint;

/// Makes of each line two tests, `sqlite::…` and `postgres::…`.
macro_rules! crashes {
    ($($test:ident: $point:ident => $module:ident::$story:ident;)*) => {
        /// The points at which a story has the process killed.
        const PLAYED: &[FailPoint] = &[$(FailPoint::$point,)*];

        mod sqlite {
            $(#[test]
            fn $test() {
                crate::database::on_sqlite(|database| super::$module::$story(database, super::FailPoint::$point));
            })*
        }
        mod postgres {
            $(#[test]
            #[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
            fn $test() {
                crate::database::on_postgres(|database| super::$module::$story(database, super::FailPoint::$point));
            })*
        }
    };
}

crashes! {
    session_stored: SessionStored => legacy::initializes;
    handshake_done: HandshakeDone => legacy::begins_late;
    handshake_stored: HandshakeStored => legacy::begins_late;
    session_deleted: SessionDeleted => legacy::ends;
    question_uncommitted_modern: QuestionUncommitted => modern::asks;
    question_uncommitted_legacy: QuestionUncommitted => legacy::asks;
    question_stored_modern: QuestionStored => modern::asks;
    question_stored_legacy: QuestionStored => legacy::asks;
    question_sent: QuestionSent => legacy::is_held;
    retry_taken: RetryTaken => modern::retries;
    signed_in: SignedIn => page::signs_in;
    page_opened: PageOpened => page::submits;
    form_read: FormRead => page::submits;
    consented: Consented => page::submits;
    check_sending: CheckSending => page::submits;
    check_answered: CheckAnswered => page::submits;
    flow_stored: FlowStored => callback::leaves;
    flow_claimed: FlowClaimed => callback::comes_back;
    exchange_sending: ExchangeSending => callback::comes_back;
    exchange_answered: ExchangeAnswered => callback::comes_back;
    completing_a_grant: Completing => callback::completes;
    completion_of_a_grant_uncommitted: CompletionUncommitted => callback::completes;
    completion_of_a_grant_committed: CompletionCommitted => callback::completes;
    completion_of_a_grant_told: CompletionTold => callback::completes;
    completing: Completing => page::submits;
    completion_uncommitted: CompletionUncommitted => page::submits;
    completion_committed: CompletionCommitted => page::submits;
    completion_told: CompletionTold => page::submits;
    decline_committed: DeclineCommitted => page::declines;
    waiter_woken: WaiterWoken => legacy::is_held;
    notice_claimed: NoticeClaimed => legacy::is_held;
    notice_written: NoticeWritten => legacy::is_held;
    stream_notice_claimed: StreamNoticeClaimed => legacy::is_told_on_a_stream;
    stream_notice_written: StreamNoticeWritten => legacy::is_told_on_a_stream;
    retry_woken: RetryWoken => modern::retries;
    call_sending_modern: CallSending => modern::retries;
    call_sending_legacy: CallSending => legacy::is_held;
    call_answered_modern: CallAnswered => modern::retries;
    call_answered_legacy: CallAnswered => legacy::is_held;
    credential_refused: CredentialRefused => modern::is_refused;
    credential_rejected: CredentialRejected => modern::is_refused;
    refresh_leased: RefreshLeased => refresh::renews;
    refresh_answered: RefreshAnswered => refresh::renews;
    refresh_answered_within_a_grace_time: RefreshAnswered => refresh::renews_within_a_grace_time;
    refresh_uncommitted: RefreshUncommitted => refresh::renews;
    refreshed: Refreshed => refresh::renews;
    disconnecting: Disconnecting => page::disconnects;
    disconnect_uncommitted: DisconnectUncommitted => page::disconnects;
    disconnected: Disconnected => page::disconnects;
    leaving: Leaving => account::lets_go;
    left: Left => account::lets_go;
    revoked: Revoked => account::lets_go;
    let_go: LetGo => account::lets_go;
}

#[test]
fn every_fail_point_has_its_story() {
    let forgotten: Vec<_> = FailPoint::ALL.iter().filter(|point| !PLAYED.contains(point)).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
}
