//! Scripts without spaces: Chinese, Japanese, and Korean with them.

use super::super::Strength::Strong;
use super::super::phrases::Sort::{Digits, Text};
use super::Listed;

/// Words that count wherever they stand.
pub(in super::super) const UNSPACED: &[Listed] = &[
    ("密码", Strong, Text),
    ("密碼", Strong, Text),
    ("密钥", Strong, Text),
    ("密鑰", Strong, Text),
    ("金鑰", Strong, Text),
    ("私钥", Strong, Text),
    ("私鑰", Strong, Text),
    ("令牌", Strong, Text),
    ("口令", Strong, Text),
    ("助记词", Strong, Text),
    ("凭证", Strong, Text),
    ("凭据", Strong, Text),
    ("验证码", Strong, Digits),
    ("驗證碼", Strong, Digits),
    ("安全码", Strong, Digits),
    ("银行卡号", Strong, Digits),
    ("信用卡号", Strong, Digits),
    ("パスワード", Strong, Text),
    ("暗証番号", Strong, Digits),
    ("비밀번호", Strong, Text),
];

/// Words in which one of [`UNSPACED`] has another meaning: an accountant's voucher, cryptography.
pub(in super::super) const UNSPACED_OTHERS: &[&str] =
    &["会计凭证", "记账凭证", "付款凭证", "密码学", "密碼學", "密码本", "密码子"];

/// What makes it something about a secret, where it follows directly, or after 的 or の.
pub(in super::super) const UNSPACED_CANCELS: &[&str] = &[
    "长度",
    "長度",
    "策略",
    "强度",
    "強度",
    "名称",
    "名稱",
    "数量",
    "數量",
    "个数",
    "总数",
    "上限",
    "下限",
    "类型",
    "類型",
    "路径",
    "路徑",
    "文件",
    "檔案",
    "有效期",
    "过期",
    "算法",
    "编号",
    "号",
    "大小",
    "轮换",
    "标签",
    "地址",
    "链接",
    "重置",
    "规则",
    "提示",
    "描述",
    "前缀",
    "管理器",
    "id",
    "url",
    "長さ",
    "強度",
    "길이",
];

/// The same, where it is the last word: 令牌数 counts tokens, and 密码数字 is a password of digits.
pub(in super::super) const UNSPACED_ENDS: &[&str] = &["数", "數", "名"];
