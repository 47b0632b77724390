//! What the store promises, on SQLite and on PostgreSQL alike.
//!
//! The PostgreSQL half needs a server on which databases may be created:
//! `USHER_TEST_POSTGRES=postgres://… cargo nextest run -p usher-store --run-ignored all`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod api_key;
mod audit;
mod browser;
mod credential;
mod events;
mod flow;
mod grant;
mod interaction;
mod keys;
mod leave;
mod limits;
mod locks;
mod notice;
mod oauth_client;
mod once;
mod people;
mod prune;
mod race;
mod refresh;
mod replicas;
mod rewrap;
mod samples;
mod secrecy;
mod session;
mod setup;
mod store;

/// Makes of each function two tests, `sqlite::…` and `postgres::…`; of those in
/// `only_postgres` one.
macro_rules! contract {
    (
        both { $($module:ident { $($test:ident,)* })* }
        only_postgres { $($replicas:ident { $($replica_test:ident,)* })* }
    ) => {
        mod sqlite {
            $(mod $module {
                $(#[test]
                fn $test() {
                    crate::setup::on_sqlite(crate::$module::$test);
                })*
            })*
        }
        mod postgres {
            $(mod $module {
                $(#[test]
                #[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
                fn $test() {
                    crate::setup::on_postgres(crate::$module::$test);
                })*
            })*
            $(mod $replicas {
                $(#[test]
                #[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
                fn $replica_test() {
                    crate::setup::on_postgres(crate::$replicas::$replica_test);
                })*
            })*
        }
    };
}

contract! {
    both {
        api_key {
            a_key_opens_for_its_server_alone,
            a_rotated_key_opens_with_both_secrets_for_a_while,
            of_two_rotations_at_once_no_secret_is_lost,
            an_expired_key_opens_nothing_and_goes_later,
            a_revoked_key_opens_nothing_at_once,
            use_of_a_key_is_written_once_a_minute,
            a_key_that_was_changed_in_the_database_is_none,
            an_impossible_key_is_none,
            what_is_no_key_is_listed_and_can_be_revoked,
            a_key_outlives_the_rotation_of_its_master_key,
        }
        audit {
            lines_come_back_newest_first_and_only_to_their_user,
            a_line_of_a_newer_version_is_kept_and_shown_as_unknown,
        }
        browser {
            a_link_signs_in_once,
            a_link_that_expired_signs_nobody_in,
            a_session_ends_when_idle,
            a_session_ends_at_its_latest_however_it_is_used,
            being_seen_is_written_once_a_minute,
            signing_out_ends_the_session_and_is_audited,
            a_link_that_was_written_or_changed_in_the_database_signs_nobody_in,
            a_session_that_was_written_or_changed_in_the_database_is_none,
            a_sign_in_is_used_once_and_begins_a_session,
            a_new_session_ends_the_one_before_it,
            a_used_sign_in_leaves_the_session_before_it_alone,
            what_a_session_keeps_comes_back_when_it_ends,
            a_session_ends_by_the_times_of_the_look_up,
        }
        credential {
            what_is_connected_comes_back_to_its_user_alone,
            connecting_again_replaces_the_secrets_and_keeps_the_approvals,
            approvals_are_pairs_of_client_and_destination,
            allowing_needs_a_stored_credential,
            a_rejection_counts_only_for_the_version_that_was_used,
            use_is_written_once_a_minute,
            disconnecting_deletes_and_is_audited,
            connections_are_listed_by_provider,
            a_moved_row_does_not_open,
            two_rows_that_were_swapped_do_not_open,
            what_cannot_be_read_can_be_connected_anew,
            what_cannot_be_read_can_be_disconnected,
            an_edited_envelope_does_not_open,
            an_edited_question_stores_nothing,
            an_edited_question_is_not_shown,
        }
        events {
            a_completion_is_told_after_it_can_be_read,
            every_change_tells_those_who_listen,
            asking_and_no_change_tell_nobody,
        }
        flow {
            a_flow_is_claimed_once,
            of_many_claims_of_a_flow_one_gets_it,
            a_flow_is_for_its_state_and_its_browser_alone,
            the_newest_way_out_is_the_one_way_back,
            a_flow_that_is_too_old_is_none,
            a_flow_ends_with_its_question,
            an_exchange_that_was_cut_off_can_be_started_again,
            declining_during_an_exchange_stores_nothing,
            a_grant_completes_what_is_exchanged_alone,
            a_flow_that_was_changed_in_the_database_is_refused,
            a_flow_goes_when_it_is_of_no_more_use,
        }
        grant {
            a_grant_comes_back_whole,
            the_old_grant_stays_until_the_new_one_is_there,
            a_moved_grant_does_not_open,
            a_grant_whose_value_is_another_s_does_not_open,
            a_grant_that_lacks_scopes_is_narrow,
            a_forgotten_user_leaves_no_grant,
        }
        interaction {
            a_question_that_is_open_is_not_asked_twice,
            another_client_provider_or_destination_is_another_question,
            asking_again_lengthens_and_never_shortens,
            asking_again_and_again_ends_after_three_hours,
            several_questions_come_back_in_their_order,
            an_overdue_question_makes_way_for_a_new_one,
            an_interaction_past_its_end_shows_as_expired,
            a_user_sees_their_own_open_interactions_newest_first,
            many_interactions_are_read_at_once,
            an_interaction_goes_from_asked_to_completed,
            an_expired_interaction_does_not_complete,
            a_failed_interaction_can_be_started_again,
            starting_again_makes_no_second_open_question,
            a_refused_step_changes_nothing,
            an_impossible_row_is_an_error,
            who_named_the_client_cannot_be_changed,
            a_claim_with_a_nul_is_kept,
        }
        keys {
            a_key_file_that_lacks_a_needed_key_is_refused,
            another_key_under_a_needed_id_is_refused,
            a_replica_that_lacks_a_key_fails_clearly_and_replaces_nothing,
            an_older_key_still_opens_and_the_active_one_seals,
            a_session_whose_key_is_gone_is_unknown,
            a_sign_in_whose_key_is_gone_is_none,
            a_store_says_which_keys_it_needs_before_it_is_opened,
        }
        leave {
            what_is_let_go_is_found_by_nobody_and_listed_until_it_is_deleted,
            what_is_connected_while_the_old_one_leaves_stays,
            a_refresh_brings_nothing_back,
            all_of_a_user_and_one_by_its_id,
            what_nobody_ended_is_found_after_its_time,
            who_needs_longer_is_left_alone_for_longer,
            a_grant_that_is_replaced_while_it_leaves_is_said_to_be_listed,
        }
        limits {
            a_declined_question_rests_longer_each_time,
            declines_count_together_within_a_day,
            a_declined_question_rests_on_every_replica,
            a_question_that_is_taken_back_does_not_rest,
            another_question_does_not_rest,
            nothing_is_asked_beside_what_rests,
            a_person_who_connects_ends_the_rest,
            open_questions_have_a_limit_for_each_user,
            open_questions_have_a_limit_for_each_client,
            the_longest_idle_session_of_a_client_makes_room,
            the_longest_idle_session_of_a_user_makes_room,
            a_session_that_waits_or_is_in_use_makes_no_room,
            an_idle_session_is_found_behind_many_that_are_in_use,
            sessions_of_all_have_a_limit,
        }
        notice {
            a_notice_is_due_once_its_interaction_is_completed,
            each_session_that_asked_is_owed_a_notice,
            a_session_that_ended_is_owed_nothing,
            a_notice_is_owed_for_as_long_as_the_question_can_complete,
            a_notice_that_was_not_delivered_is_given_back,
        }
        oauth_client {
            a_registration_is_its_issuer_s_alone,
            the_first_registration_wins,
            an_expired_or_unreadable_registration_makes_way,
            a_registration_is_forgotten_by_its_id,
        }
        people {
            signed_in_browsers_are_listed_to_their_owner,
            a_browser_is_signed_out_from_another_one,
            a_browser_that_was_moved_is_listed_to_nobody,
            browsers_of_an_earlier_version_are_found_by_their_owner,
            the_audit_log_is_read_page_by_page,
            a_revoked_client_may_use_nothing,
            a_completion_does_not_undo_a_revocation,
            an_approval_is_kept_with_its_time,
            what_rests_can_be_released_by_its_owner,
            an_operator_lists_connections_of_all,
            an_operator_ends_one_connection,
            a_user_is_forgotten_whole,
            a_user_of_whom_very_much_is_stored_is_forgotten,
            everybody_of_whom_something_is_stored_is_listed_once,
        }
        once {
            an_approval_is_used_once,
            an_approval_is_for_its_own_call_alone,
            an_approval_lasts_a_quarter_of_an_hour,
            a_revoked_client_calls_nothing_that_was_approved,
            of_many_claims_at_once_one_succeeds,
            several_approvals_are_used_together_or_not_at_all,
            each_round_uses_what_the_one_before_left,
            what_is_given_back_can_be_used_again,
            each_call_is_its_own_question_and_rests_alone,
            an_approval_that_was_written_or_changed_in_the_database_is_none,
            an_approval_that_was_moved_to_another_user_is_none,
            an_edited_call_is_not_shown_and_not_approved,
            a_call_is_sealed_and_goes_when_it_is_of_no_more_use,
            a_way_back_works_once,
        }
        prune {
            what_is_overdue_expires_and_what_is_old_goes,
            pruning_goes_on_until_nothing_is_left,
            pruning_leaves_what_is_alive,
        }
        race {
            of_two_submissions_one_is_done,
            of_two_completions_one_stores,
            of_two_uses_of_a_link_one_signs_in,
            of_two_uses_of_a_sign_in_one_counts,
            of_two_claims_of_a_notice_one_is_true,
            asking_at_once_makes_one_question,
            two_clients_completing_at_once_both_get_their_approval,
            askers_of_several_do_not_wait_for_each_other,
            asking_and_pruning_do_not_wait_for_each_other,
            restarting_and_asking_leave_one_open_question,
        }
        refresh {
            of_many_who_want_to_refresh_one_does,
            a_refresh_replaces_the_tokens,
            a_lease_ends_by_itself,
            a_refresh_that_comes_late_changes_nothing,
            connecting_anew_wins_over_a_refresh,
            what_is_agreed_to_during_a_refresh_stays,
            a_refresh_costs_two_commits,
            a_dead_grant_is_kept_and_not_refreshed,
            a_rejected_grant_is_not_refreshed,
            a_refresh_that_failed_rests,
            what_is_put_off_keeps_nobody_from_it,
            a_clock_that_was_ahead_holds_nothing_up,
            what_is_due_is_found_among_thousands,
            what_cannot_be_read_is_not_due,
            refreshes_of_many_users_do_not_wait_for_each_other,
        }
        rewrap {
            what_an_older_key_wrapped_is_wrapped_anew,
            an_approved_call_needs_its_key_until_it_came,
            grants_and_registrations_are_wrapped_anew,
            what_a_next_key_wrapped_is_left_alone,
            a_run_that_was_cut_short_is_taken_up_again,
            several_runs_at_once_do_no_harm,
            a_credential_that_changes_meanwhile_is_whole,
            what_was_changed_in_the_database_stays_unreadable,
            a_key_that_is_needed_is_never_forgotten,
            the_key_of_a_row_is_read_out_of_its_value,
        }
        secrecy {
            no_secret_lies_in_the_database,
            no_debug_text_shows_a_secret,
        }
        session {
            a_session_comes_back_whole,
            an_ended_session_is_unknown,
            extending_never_shortens_and_revives_nothing,
            the_upstream_side_begins_once,
            a_deleted_session_is_unknown_and_told,
            a_session_moved_to_another_principal_does_not_open,
        }
        store {
            the_instance_is_made_once_and_kept,
            a_newer_schema_is_refused,
            an_older_schema_is_left_alone_by_commands,
            a_closed_store_says_that_it_is_unavailable,
            a_store_opens_again_with_what_it_held,
        }
    }
    only_postgres {
        locks {
            a_claim_locks_in_the_order_of_all,
            a_revocation_locks_in_the_order_of_all,
            forgetting_locks_in_the_order_of_all,
        }
        replicas {
            another_replica_hears_of_a_change,
            a_lost_event_connection_is_made_again_and_that_is_told,
            replicas_that_start_together_agree,
            a_plan_made_while_tables_were_small_keeps_to_its_index,
            a_clock_that_is_off_takes_no_lease,
        }
    }
}
