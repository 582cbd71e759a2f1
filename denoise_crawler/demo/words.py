"""The texts around the articles in both languages, and choices that are the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

T = TypeVar("T")

SITE = {"en": "The Harbour Ledger", "zh": "港湾纪事"}

SECTIONS = {
    "en": {
        "world": "World",
        "science": "Science",
        "sport": "Sport",
        "business": "Business",
        "culture": "Culture",
    },
    "zh": {"world": "国际", "science": "科学", "sport": "体育", "business": "财经", "culture": "文化"},
}

WORDS = {
    "en": {
        "skip": "Skip to main content",
        "home": "Home",
        "latest": "Latest",
        "earlier": "Earlier stories",
        "focus": "In focus",
        "login": "Sign in",
        "today": "Friday, 14 March 2031",
        "weather": "Port Ellery",
        "ad": "Advertisement",
        "share": "Share this story",
        "copy": "Copy link",
        "mail": "Send by e-mail",
        "print": "Print",
        "by": "By",
        "credit": "Provided by",
        "newsletter": "The Morning Tide",
        "newsletter_text": "Five stories in your inbox at six, free. You can unsubscribe at any time.",
        "subscribe": "Subscribe",
        "email": "Your e-mail address",
        "most_read": "Most read",
        "related": "Related stories",
        "pictures": "In pictures",
        "comments": "Comments",
        "no_comments": "Be the first to comment on this story.",
        "reply": "Reply",
        "report": "Report",
        "follow": "Follow The Harbour Ledger on Piperline and Lantern for more stories like this one.",
        "read_more": "Read more:",
        "cookie": "We and our 214 partners use cookies. By continuing you agree to our policy.",
        "accept": "Accept all",
        "settings": "Settings",
        "noscript": "Please enable JavaScript to see the live tide table.",
        "copyright": "© 2031 The Harbour Ledger. All rights reserved. Reproduction is prohibited.",
        "next": "Next page",
        "previous": "Previous page",
        "page": "Page",
        "missing": "Page not found",
        "missing_text": "The page has moved or never existed. Try the front page or the search.",
        "gone": "This gallery has expired",
        "gone_text": "Pictures are kept for thirty days. The photographers thank you for your interest.",
        "private": "Members' area",
        "private_text": "Please sign in to read your saved stories.",
        "stale": "Harbour cranes sold to a film studio",
        "archive": "From the archive",
        "other": "中文版",
    },
    "zh": {
        "skip": "跳到正文",
        "home": "首页",
        "latest": "最新",
        "earlier": "往期",
        "focus": "焦点",
        "login": "登录",
        "today": "2031年3月14日 星期五",
        "weather": "埃勒里港",
        "ad": "广告",
        "share": "分享这篇文章",
        "copy": "复制链接",
        "mail": "邮件发送",
        "print": "打印",
        "by": "作者：",
        "credit": "图片来源：",
        "newsletter": "早潮邮报",
        "newsletter_text": "每天清晨六点，五条新闻送到您的邮箱，免费订阅，随时退订。",
        "subscribe": "立即订阅",
        "email": "您的邮箱地址",
        "most_read": "阅读排行",
        "related": "相关阅读",
        "pictures": "图片报道",
        "comments": "评论",
        "no_comments": "还没有评论，来抢沙发吧。",
        "reply": "回复",
        "report": "举报",
        "follow": "欢迎在笛语和灯塔上关注港湾纪事，获取更多精彩内容。",
        "read_more": "延伸阅读：",
        "cookie": "本网站及214家合作伙伴使用小型文本文件改善服务，继续浏览即表示您同意我们的政策。",
        "accept": "全部接受",
        "settings": "设置",
        "noscript": "请启用脚本以查看实时潮汐表。",
        "copyright": "© 2031 港湾纪事 版权所有，未经书面授权不得转载。",
        "next": "下一页",
        "previous": "上一页",
        "page": "第",
        "missing": "页面不存在",
        "missing_text": "您访问的页面已移动或从未存在，请返回首页或使用搜索。",
        "gone": "图集已过期",
        "gone_text": "图片保存三十天，摄影师感谢您的关注。",
        "private": "会员专区",
        "private_text": "请登录后查看您收藏的文章。",
        "stale": "港口吊机卖给了电影厂",
        "archive": "旧闻回顾",
        "other": "English edition",
    },
}

ADS = {
    "en": (
        "Fennick & Daughters: rye loaves baked with the tide, from 6 a.m.",
        "Skerry Air – Brannoch return from 49. Book by Sunday.",
        "Learn Tarsovan in ninety evenings. First lesson free at the Lingua Pier.",
        "Tolliver umbrellas. Mended for ever, within reason.",
        "Harbour Mutual: home insurance that answers the telephone.",
        "Piddock & Lane puzzles, now with two gulls. Order today!",
        "Used pianos, moved and tuned. Call Halden 4471.",
        "Meridian Rail & Sleeper: fall asleep here, wake up there.",
        "Oak stairs made to measure. They may even lead somewhere.",
    ),
    "zh": (
        "芬尼克母女面包：跟着潮水出炉，早上六点开门。",
        "斯凯里航空布兰诺克往返四十九元起，周日截止。",
        "九十个晚上学会塔索瓦语，语言码头首课免费。",
        "托利弗雨伞，终身保修，邮费自理。",
        "港湾互助：电话打得通的家庭保险。",
        "双鸥拼图新装上市，今天下单立减。",
        "二手钢琴搬运调音，请拨哈尔登四四七一。",
        "子午线卧铺列车：在这里睡着，在那里醒来。",
    ),
}

FOOTER = {
    "en": (
        ("The Ledger", (("About us", "/en-us/about"), ("Careers & internships", "/en-us/about/careers"))),
        ("Help", (("Contact", "/en-us/about/contact"), ("Corrections", "/en-us/about/corrections"))),
        ("Legal", (("Terms & privacy", "/en-us/about/terms"), ("Your account", "/private/account"))),
        (
            "Business",
            (("Rate card (PDF)", "/files/rate-card.pdf"), ("Partners", "http://example.com/partners")),
        ),
    ),
    "zh": (
        ("关于我们", (("本站简介", "/zh-cn/about"), ("招聘启事", "/zh-cn/about/careers"))),
        ("帮助", (("联系我们", "/zh-cn/about/contact"), ("更正启事", "/zh-cn/about/corrections"))),
        ("法律", (("条款与隐私", "/zh-cn/about/terms"), ("我的账户", "/private/account"))),
        ("商务", (("广告价目", "/files/rate-card.pdf"), ("合作伙伴", "http://example.com/partners"))),
    ),
}

ABOUT = {
    "about": {
        "en": "The Harbour Ledger is a fictional paper, written to teach a crawler what noise is.",
        "zh": "港湾纪事是一份虚构的报纸，为教会爬虫识别噪声而写。",
    },
    "careers": {
        "en": "We are looking for a night editor who likes fog, and for an intern who counts meters.",
        "zh": "本报招聘一位喜欢雾的夜班编辑，以及一位会数电表的实习生。",
    },
    "contact": {
        "en": "Write to us at 4 Lower Quay, Port Ellery. We answer letters on Wednesdays.",
        "zh": "来信请寄埃勒里港下码头四号，我们每周三回信。",
    },
    "corrections": {
        "en": "On 2 March we wrote that the tide mill has three turbines. It has two. We are sorry.",
        "zh": "三月二日本报称潮汐磨坊有三台水轮机，实为两台，特此更正。",
    },
    "terms": {
        "en": "By reading this page you agree that it is fictional. No rights can be derived from it.",
        "zh": "阅读本页即表示您同意其内容纯属虚构，不得据此主张任何权利。",
    },
}

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def number(seed: str) -> int:
    """Return a number that depends on the seed alone, not on process or machine."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=6).digest(), "big")


def pick(seed: str, options: Sequence[T], count: int) -> list[T]:
    """Return ``count`` different options, chosen and ordered by the seed alone."""
    order = sorted(range(len(options)), key=lambda place: number(f"{seed}|{place}"))
    return [options[place] for place in order[:count]]


def day(lang: str, time: datetime) -> str:
    """Return a date as the language writes it, whatever the machine's locale."""
    if lang == "zh":
        return f"{time.year}年{time.month}月{time.day}日"
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}"
