use std::collections::BTreeSet;

use super::*;

const EN: Words = Words { language: Language::English };
const ZH: Words = Words { language: Language::Chinese };

fn shape(sentence: &str) -> BTreeSet<String> {
    parts(sentence)
        .filter_map(|part| match part {
            Part::Value(name) => Some(format!("{{{}}}", name.text)),
            Part::Mark(mark) => Some(mark.to_owned()),
            Part::Literal(_) => None,
        })
        .collect()
}

#[test]
fn both_languages_have_the_same_sentences_with_the_same_placeholders() {
    assert_eq!(ENGLISH.keys().collect::<Vec<_>>(), CHINESE.keys().collect::<Vec<_>>());
    for (key, english) in &*ENGLISH {
        assert_eq!(shape(english), shape(&CHINESE[key]), "{key}");
        for (begin, end) in [(MARKS[0], MARKS[1]), (MARKS[2], MARKS[3])] {
            assert_eq!(english.matches(begin).count(), english.matches(end).count(), "{key}");
        }
        assert!(!CHINESE[key].is_empty() && !english.is_empty(), "{key}");
    }
}

#[test]
fn chinese_has_a_space_beside_latin_words_and_full_width_punctuation() {
    for (key, sentence) in &*CHINESE {
        let text = MARKS.iter().fold(sentence.clone(), |text, mark| text.replace(mark, ""));
        let characters = text.chars().collect::<Vec<_>>();
        for pair in characters.windows(2) {
            let latin = |c: char| c.is_ascii_alphanumeric();
            assert!(!(han(pair[0]) && latin(pair[1]) || latin(pair[0]) && han(pair[1])), "{key}: {pair:?}");
            assert!(!(han(pair[0]) && ",.;:!?()".contains(pair[1])), "{key}: {pair:?}");
        }
    }
}

/// R-OAUTH-03, R-SEC-02: a name cannot change the page that shows it.
#[test]
fn hostile_values_are_escaped_and_kept_apart() {
    let values = [("Client", "<script>alert('x')</script>"), ("server", "{client} \"&"), ("what", "</strong>")];
    assert_eq!(
        EN.rich("connect.lead", &values).to_string(),
        "<strong><bdi>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</bdi></strong> wants to use \
         <strong><bdi>{client} &quot;&amp;</bdi></strong> for you. It needs your <bdi>&lt;/strong&gt;</bdi>."
    );
}

/// WCAG 2.2, 3.1.2: what the operator wrote in another language than the page's says so.
#[test]
fn a_value_in_another_language_says_so() {
    let said = Said { text: "<天气>", language: Some("zh-CN") };
    assert_eq!(
        EN.rich("portal.closes", &[("when", said)]).to_string(),
        "closes <bdi lang=\"zh-CN\">&lt;天气&gt;</bdi>"
    );
    assert_eq!(Html::said(said).to_string(), "<span lang=\"zh-CN\">&lt;天气&gt;</span>");
    assert_eq!(Said::of(&Text::plain("Weather"), Language::Chinese).language, None);
}

#[test]
fn a_moment_is_relative_with_the_exact_time_beside_it() {
    let now: Timestamp = "2026-11-30T08:05:00Z".parse().unwrap();
    let then: Timestamp = "2026-11-30T06:04:00Z".parse().unwrap();
    assert_eq!(
        EN.time(then, now).to_string(),
        "<time datetime=\"2026-11-30T06:04:00Z\" title=\"2026-11-30, 06:04 UTC\">2 hours ago\
         <span class=\"unseen\"> (2026-11-30, 06:04 UTC)</span></time>"
    );
    assert_eq!(ZH.relative(now, then), "2 小时后");
    assert_eq!(ZH.relative(now, now), "刚刚");
    assert_eq!(EN.relative("2026-11-30T08:19:30Z".parse().unwrap(), now), "in 14 minutes");
    assert_eq!(EN.relative("2026-11-28T08:00:00Z".parse().unwrap(), now), "2 days ago");
}

#[test]
fn chinese_values_stand_without_spaces() {
    let values = [("client", "默认"), ("provider", "GitHub")];
    assert_eq!(ZH.say("connect.heading_client", &values), "允许默认使用 GitHub？");
    let values = [("client", "Claude"), ("provider", "天气")];
    assert_eq!(ZH.rich("connect.heading_client", &values).to_string(), "允许 <bdi>Claude</bdi> 使用<bdi>天气</bdi>？");
}

/// Nobody named the first token, so sentences say what it is; a name that somebody chose is said as it is.
#[test]
fn the_app_with_the_first_token_is_not_called_default() {
    let lead = |words: Words, name: &str| {
        let values = [("Client", words.app_first(name)), ("server", "Weather"), ("what", "key")];
        words.say("connect.lead", &values)
    };
    assert!(lead(EN, "default").starts_with("The app with the token “default” wants to use Weather"));
    assert!(lead(ZH, "default").starts_with("使用令牌“default”的应用想代您使用 Weather"));
    assert!(lead(EN, "defaults").starts_with("defaults wants"));
    assert_eq!(EN.app("default"), "the app with the token “default”");
}

#[test]
fn names_are_listed_as_the_language_does() {
    let names = ["a", "b", "c"].map(str::to_owned);
    assert_eq!(EN.list(&names), "a, b and c");
    assert_eq!(ZH.list(&names), "a、b、c");
    assert_eq!(EN.list(&names[..1]), "a");
}

#[test]
fn every_sentence_that_a_page_uses_exists_and_none_is_left_over() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let mut folders = vec![root.join("templates"), root.join("src/pages")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    for key in ENGLISH.keys() {
        assert!(text.contains(&format!("\"{key}\"")), "nobody says {key}");
    }
    let sections = ENGLISH.keys().map(|key| key.split('.').next().unwrap()).collect::<BTreeSet<_>>();
    for quoted in text.split('"') {
        let Some((section, key)) = quoted.split_once('.') else { continue };
        let plain = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if sections.contains(section) && plain && key != "html" {
            assert!(ENGLISH.contains_key(quoted), "no sentence {quoted}");
        }
    }
}
