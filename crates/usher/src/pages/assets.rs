//! The style, the script and the mark. Their address carries a hash of their content, so browsers may keep them.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{StatusCode, Uri, header};

struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
    version: String,
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        Asset::new("usher.css", "text/css; charset=utf-8", include_str!("../../assets/usher.css")),
        Asset::new("usher.js", "text/javascript; charset=utf-8", include_str!("../../assets/usher.js")),
        Asset::new("mark.svg", "image/svg+xml", include_str!("../../assets/mark.svg")),
    ]
});

impl Asset {
    fn new(name: &'static str, kind: &'static str, content: &'static str) -> Self {
        let hash = digest(&SHA256, content.as_bytes());
        let version = URL_SAFE_NO_PAD.encode(&hash.as_ref()[..9]);
        Self { name, kind, content, version }
    }
}

/// The address of an asset, with its version.
pub(crate) fn address(name: &str) -> String {
    let version = ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.version);
    format!("/assets/{name}?v={version}")
}

/// `GET /assets/{name}`. Kept for a year where the address names this very version, else asked for again each time.
pub(crate) async fn get(Path(name): Path<String>, uri: Uri) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let current = uri.query().and_then(|query| query.strip_prefix("v=")) == Some(asset.version.as_str());
    let caching = if current { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, caching)], asset.content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_asset_is_kept_only_at_the_address_of_its_version() {
        let get = async |uri: &str| get(Path("usher.css".into()), uri.parse().unwrap()).await;
        let current = get(&address("usher.css")).await;
        assert_eq!(current.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(current.headers()[header::CONTENT_TYPE], "text/css; charset=utf-8");
        assert_eq!(get("/assets/usher.css?v=old").await.headers()[header::CACHE_CONTROL], "no-cache");
        assert_eq!(super::get(Path("../Cargo.toml".into()), "/".parse().unwrap()).await.status(), 404);
    }

    #[test]
    fn assets_load_nothing_from_elsewhere() {
        for asset in &*ASSETS {
            let foreign = asset.content.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !foreign.contains("http") && !foreign.contains("@import") && !foreign.contains("url("),
                "{}",
                asset.name
            );
        }
    }

    /// The relative luminance of `#rrggbb` (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    /// WCAG 2.2, 1.4.3 and 1.4.11: text has a contrast of 4.5 to 1 on whatever it stands, edges and focus of 3 to 1.
    #[test]
    fn colours_have_enough_contrast_in_light_and_dark() {
        let css = ASSETS[0].content;
        let (light, dark) = css.split_once("prefers-color-scheme: dark").unwrap();
        for scheme in [light, dark] {
            let colour = |name: &str| {
                let (_, rest) = scheme.split_once(&format!("--{name}: ")).unwrap();
                luminance(rest.split(';').next().unwrap())
            };
            for (over, under, least) in [
                ("ink", "paper", 4.5),
                ("ink", "sheet", 4.5),
                ("ink", "tint", 4.5),
                ("ink", "bad-tint", 4.5),
                ("quiet", "paper", 4.5),
                ("quiet", "sheet", 4.5),
                ("quiet", "tint", 4.5),
                ("claim-line", "paper", 3.0),
                ("accent", "paper", 4.5),
                ("accent", "sheet", 4.5),
                ("accent-deep", "paper", 4.5),
                ("on-accent", "accent", 4.5),
                ("on-accent", "accent-deep", 4.5),
                ("bad", "paper", 4.5),
                ("bad", "sheet", 4.5),
                ("bad", "bad-tint", 4.5),
                ("edge", "paper", 3.0),
                ("edge", "sheet", 3.0),
                ("focus", "paper", 3.0),
                ("focus", "sheet", 3.0),
                ("focus", "tint", 3.0),
            ] {
                let (one, other) = (colour(over), colour(under));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= least, "{over} on {under}: {contrast:.2}");
            }
        }
    }
}
