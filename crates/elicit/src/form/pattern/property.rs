use super::escape::{ANYTHING, NOTHING};
use super::translate::Translator;
use super::weight::Weight;
use super::{PatternError, PatternFault, Unchecked};

impl Translator<'_> {
    /// `\p{…}` or `\P{…}` as a class. The backslash at `start` was read.
    pub(super) fn property(&mut self, start: usize, negated: bool) -> Result<(String, Weight), PatternError> {
        self.cursor.next();
        let mut name = "";
        if self.cursor.eat("{") {
            name =
                self.cursor.eat_while(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '='));
        }
        let property = if self.cursor.eat("}") { expression_for(name) } else { None };
        let property = property.ok_or_else(|| self.cursor.error(start, PatternFault::UnknownProperty))?;
        if is_in(UNSUPPORTED, &property) {
            self.leave_unchecked(Unchecked::Property);
            return Ok((NOTHING.to_owned(), Weight::UNIT));
        }
        // Surrogates stand in no text, and the engine has no table of them.
        Ok(match (property.as_str(), negated) {
            (SURROGATES, false) => (NOTHING.to_owned(), Weight::UNIT),
            (SURROGATES, true) => (ANYTHING.to_owned(), Weight::WIDE_SET),
            (property, false) => (format!(r"\p{{{property}}}"), Weight::PROPERTY),
            (property, true) => (format!(r"\P{{{property}}}"), Weight::PROPERTY),
        })
    }
}

fn is_in(names: &str, name: &str) -> bool {
    !name.is_empty() && names.split(' ').any(|known| known == name)
}

const SURROGATES: &str = "gc=Cs";

/// What the crate `regex` has no table of.
const UNSUPPORTED: &str = "sc=Unknown scx=Unknown sc=Zzzz scx=Zzzz CWKCF Changes_When_NFKC_Casefolded";

/// The name that the crate `regex` has for a property. It reads names loosely, ECMA-262 exactly
/// (tables 67 to 69 of the edition of 2024).
fn expression_for(name: &str) -> Option<String> {
    match name.split_once('=') {
        Some(("General_Category" | "gc", value)) if is_in(GENERAL_CATEGORIES, value) => Some(category(value)),
        Some(("Script" | "sc", value)) if is_in(SCRIPTS, value) => Some(format!("sc={value}")),
        Some(("Script_Extensions" | "scx", value)) if is_in(SCRIPTS, value) => Some(format!("scx={value}")),
        None if is_in(GENERAL_CATEGORIES, name) => Some(category(name)),
        None if is_in(BINARY_PROPERTIES, name) => Some(name.to_owned()),
        _ => None,
    }
}

fn category(value: &str) -> String {
    if matches!(value, "Cs" | "Surrogate") { SURROGATES.to_owned() } else { format!("gc={value}") }
}

/// Values of `General_Category` with their aliases (Unicode 16).
const GENERAL_CATEGORIES: &str = "\
    C Cased_Letter Cc Cf Close_Punctuation Cn Co Combining_Mark Connector_Punctuation Control Cs Currency_Symbol \
    Dash_Punctuation Decimal_Number Enclosing_Mark Final_Punctuation Format Initial_Punctuation L LC Letter \
    Letter_Number Line_Separator Ll Lm Lo Lowercase_Letter Lt Lu M Mark Math_Symbol Mc Me Mn Modifier_Letter \
    Modifier_Symbol N Nd Nl No Nonspacing_Mark Number Open_Punctuation Other Other_Letter Other_Number \
    Other_Punctuation Other_Symbol P Paragraph_Separator Pc Pd Pe Pf Pi Po Private_Use Ps Punctuation S Sc Separator \
    Sk Sm So Space_Separator Spacing_Mark Surrogate Symbol Titlecase_Letter Unassigned Uppercase_Letter Z Zl Zp Zs \
    cntrl digit punct";

/// Properties that are yes or no, with their aliases (ECMA-262, table 68).
const BINARY_PROPERTIES: &str = "\
    AHex ASCII ASCII_Hex_Digit Alpha Alphabetic Any Assigned Bidi_C Bidi_Control Bidi_M Bidi_Mirrored CI CWCF CWCM \
    CWKCF CWL CWT CWU Case_Ignorable Cased Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased \
    Changes_When_NFKC_Casefolded Changes_When_Titlecased Changes_When_Uppercased DI Dash \
    Default_Ignorable_Code_Point Dep Deprecated Dia Diacritic EBase EComp EMod EPres Emoji Emoji_Component \
    Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Ext ExtPict Extended_Pictographic Extender Gr_Base Gr_Ext \
    Grapheme_Base Grapheme_Extend Hex Hex_Digit IDC IDS IDSB IDST IDS_Binary_Operator IDS_Trinary_Operator \
    ID_Continue ID_Start Ideo Ideographic Join_C Join_Control LOE Logical_Order_Exception Lower Lowercase Math NChar \
    Noncharacter_Code_Point Pat_Syn Pat_WS Pattern_Syntax Pattern_White_Space QMark Quotation_Mark RI Radical \
    Regional_Indicator SD STerm Sentence_Terminal Soft_Dotted Term Terminal_Punctuation UIdeo Unified_Ideograph \
    Upper Uppercase VS Variation_Selector White_Space XIDC XIDS XID_Continue XID_Start space";

/// Values of Script with their aliases (Unicode 16).
const SCRIPTS: &str = "\
    Adlam Adlm Aghb Ahom Anatolian_Hieroglyphs Arab Arabic Armenian Armi Armn Avestan Avst Bali Balinese Bamu Bamum \
    Bass Bassa_Vah Batak Batk Beng Bengali Bhaiksuki Bhks Bopo Bopomofo Brah Brahmi Brai Braille Bugi Buginese Buhd \
    Buhid Cakm Canadian_Aboriginal Cans Cari Carian Caucasian_Albanian Chakma Cham Cher Cherokee Chorasmian Chrs \
    Common Copt Coptic Cpmn Cprt Cuneiform Cypriot Cypro_Minoan Cyrillic Cyrl Deseret Deva Devanagari Diak \
    Dives_Akuru Dogr Dogra Dsrt Dupl Duployan Egyp Egyptian_Hieroglyphs Elba Elbasan Elym Elymaic Ethi Ethiopic Gara \
    Garay Geor Georgian Glag Glagolitic Gong Gonm Goth Gothic Gran Grantha Greek Grek Gujarati Gujr Gukh \
    Gunjala_Gondi Gurmukhi Guru Gurung_Khema Han Hang Hangul Hani Hanifi_Rohingya Hano Hanunoo Hatr Hatran Hebr \
    Hebrew Hira Hiragana Hluw Hmng Hmnp Hung Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian \
    Ital Java Javanese Kaithi Kali Kana Kannada Katakana Kawi Kayah_Li Khar Kharoshthi Khitan_Small_Script Khmer \
    Khmr Khoj Khojki Khudawadi Kirat_Rai Kits Knda Krai Kthi Lana Lao Laoo Latin Latn Lepc Lepcha Limb Limbu Lina \
    Linb Linear_A Linear_B Lisu Lyci Lycian Lydi Lydian Mahajani Mahj Maka Makasar Malayalam Mand Mandaic Mani \
    Manichaean Marc Marchen Masaram_Gondi Medefaidrin Medf Meetei_Mayek Mend Mende_Kikakui Merc Mero \
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Mlym Modi Mong Mongolian Mro Mroo Mtei Mult Multani Myanmar Mymr \
    Nabataean Nag_Mundari Nagm Nand Nandinagari Narb Nbat New_Tai_Lue Newa Nko Nkoo Nshu Nushu \
    Nyiakeng_Puachue_Hmong Ogam Ogham Ol_Chiki Ol_Onal Olck Old_Hungarian Old_Italic Old_North_Arabian Old_Permic \
    Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Onao Oriya Orkh Orya Osage Osge Osma Osmanya \
    Ougr Pahawh_Hmong Palm Palmyrene Pau_Cin_Hau Pauc Perm Phag Phags_Pa Phli Phlp Phnx Phoenician Plrd Prti \
    Psalter_Pahlavi Qaac Qaai Rejang Rjng Rohg Runic Runr Samaritan Samr Sarb Saur Saurashtra Sgnw Sharada Shavian \
    Shaw Shrd Sidd Siddham SignWriting Sind Sinh Sinhala Sogd Sogdian Sogo Sora Sora_Sompeng Soyo Soyombo Sund \
    Sundanese Sunu Sunuwar Sylo Syloti_Nagri Syrc Syriac Tagalog Tagb Tagbanwa Tai_Le Tai_Tham Tai_Viet Takr Takri \
    Tale Talu Tamil Taml Tang Tangsa Tangut Tavt Telu Telugu Tfng Tglg Thaa Thaana Thai Tibetan Tibt Tifinagh Tirh \
    Tirhuta Tnsa Todhri Todr Toto Tulu_Tigalari Tutg Ugar Ugaritic Unknown Vai Vaii Vith Vithkuqi Wancho Wara \
    Warang_Citi Wcho Xpeo Xsux Yezi Yezidi Yi Yiii Zanabazar_Square Zanb Zinh Zyyy Zzzz";

#[cfg(test)]
mod tests {
    use super::*;

    /// R-FORM-06: what is valid here has a meaning in the engine, or is known to have none.
    #[test]
    fn the_engine_knows_all_properties_but_the_listed_ones() {
        let names = |names: &'static str| names.split(' ');
        let categories = names(GENERAL_CATEGORIES).flat_map(|name| [name.to_owned(), format!("gc={name}")]);
        let scripts = names(SCRIPTS).flat_map(|name| [format!("sc={name}"), format!("scx={name}")]);
        let unknown: Vec<String> = categories
            .chain(scripts)
            .chain(names(BINARY_PROPERTIES).map(str::to_owned))
            .map(|name| expression_for(&name).unwrap())
            .filter(|expression| expression != SURROGATES)
            .filter(|expression| regex::Regex::new(&format!(r"\p{{{expression}}}")).is_err())
            .collect();
        assert_eq!(unknown.join(" "), UNSUPPORTED);
    }
}
