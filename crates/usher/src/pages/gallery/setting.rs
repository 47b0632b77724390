//! What all pages are made from.

use std::path::Path;

use crate::config::Config;

/// A configuration with titles in both languages.
pub(crate) fn config() -> Config {
    let text = r#"
[[provider]]
name = "weather"
kind = "secret"
title = { en = "Weather", "zh-CN" = "天气" }
about = { en = "Forecasts and warnings.", "zh-CN" = "天气预报与预警。" }
[[provider.field]]
name = "api_key"
label = { en = "API key", "zh-CN" = "API 密钥" }
description = { en = "Starts with wk_.", "zh-CN" = "以 wk_ 开头。" }
help_url = "https://weather.example/keys"
[[provider.field]]
name = "team"
label = { en = "Team", "zh-CN" = "团队" }
secret = false
required = false

[[provider]]
name = "tracker"
kind = "secret"
title = "Tracker"
[[provider.field]]
name = "token"

[[provider]]
name = "confirm"
kind = "approval"
title = { en = "Approval", "zh-CN" = "批准" }
about = { en = "Deleting needs your word.", "zh-CN" = "删除操作需要您批准。" }

[[provider]]
name = "pay"
kind = "external"
title = "Example Pay"
about = { en = "You pay 3 euros for one report.", "zh-CN" = "为一份报告支付 3 欧元。" }
url = "https://checkout.pay.example/order?id={reference}&back={return_url}"
[provider.confirm]
get = "https://api.pay.example/orders/{reference}"
field = "status"
equals = "paid"

[[provider]]
name = "terms"
kind = "external"
about = "The terms of use."
url = "https://terms.example/{reference}"
per = "user"

[[provider]]
name = "forge"
kind = "oauth"
title = "Forge"
about = { en = "Your repositories.", "zh-CN" = "您的代码仓库。" }
authorization_endpoint = "https://login.forge.example/authorize"
token_endpoint = "https://login.forge.example/token"
client_id = "usher"
client_secret = "secret-of-forge"
scopes = ["repo"]
[provider.scope_text]
repo = { en = "Read and write your repositories", "zh-CN" = "读写您的代码仓库" }

[[provider]]
name = "shop"
kind = "oauth"
title = "Shop"
authorization_endpoint = "https://{shop}.myshop.example/authorize"
token_endpoint = "https://{shop}.myshop.example/token"
client_id = "usher"
client_secret = "secret-of-shop"
[[provider.input]]
name = "shop"
label = { en = "the name of your shop", "zh-CN" = "您的店铺名称" }
suffix = ".myshop.example"
example = "acme"

[[provider]]
name = "english"
kind = "secret"
about = { en = "Only in English." }
field = [{ name = "token" }]

[[upstream]]
name = "weather-server"
title = { en = "Weather server", "zh-CN" = "天气服务器" }
url = "https://weather-mcp.example/mcp"
[[upstream.needs]]
provider = "weather"
header = { X-Api-Key = "{api_key}" }
"#;
    Config::parse(text, Path::new("/srv/usher/usher.toml"), &|_| None).unwrap()
}
