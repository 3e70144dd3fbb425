/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - head and style of HTML pages: no script, nothing fetched, light and dark, printable.
 *
 * Colours mean classes of work and are the same everywhere: compute blue, communication orange, copies
 * and sets green, synchronisation purple, idle grey, host slate.
 */
#include "page.h"

static const char style[] =
        ":root{--fg:#1c2430;--dim:#5b6675;--bg:#fff;--line:#dfe4ea;--head:#f4f6f8;--link:#1d5fb4;"
        "--compute:#2f6fd0;--communication:#d9730d;--communication-overlapped:#f4c99a;"
        "--memory:#2e8b57;--sync:#7d4fb8;--idle:#d5dae1;--host:#64748b;--python:#0f8a8a;"
        "--data:#8b5e34;--bad:#b3261e}"
        "@media(prefers-color-scheme:dark){:root{--fg:#e3e8ef;--dim:#9aa7b8;--bg:#14181e;"
        "--line:#2b333d;--head:#1b2129;--link:#7fb2f5;--compute:#5b95ee;--communication:#f0953f;"
        "--communication-overlapped:#8a5a2a;--memory:#4fb37c;--sync:#a67fdc;--idle:#3a434f;"
        "--host:#8c9bb0;--python:#3fb5b5;--data:#b98a5e;--bad:#f2857c}}"
        "*{box-sizing:border-box}"
        "body{margin:0 auto;padding:24px;max-width:1240px;color:var(--fg);background:var(--bg);"
        "font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
        "font-variant-numeric:tabular-nums}"
        "h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:32px 0 4px}"
        "p{margin:4px 0;max-width:90ch}a{color:var(--link)}"
        ".dim{color:var(--dim)}.bad{color:var(--bad)}"
        "nav{margin:16px 0;columns:3 220px}nav a{display:block;text-decoration:none}"
        "section{overflow-x:auto}"
        "table{border-collapse:collapse;margin:8px 0}"
        "th,td{padding:2px 12px 2px 0;text-align:left;vertical-align:top;"
        "border-bottom:1px solid var(--line)}"
        "th{background:var(--head);font-weight:600;white-space:nowrap;padding-left:4px}"
        "td{padding-left:4px}td.ht-text{max-width:56ch;overflow-wrap:break-word}"
        ".ht-num,.ht-null{text-align:right;white-space:nowrap}"
        ".ht-null,.ht-more,.ht-note,.ht-method{color:var(--dim)}tfoot td{border-bottom:0}"
        "caption{text-align:left;font-weight:600;padding:4px}.ht-method{font-weight:400}"
        "figure{margin:8px 0}figcaption{color:var(--dim)}"
        "figcaption i{display:inline-block;width:10px;height:10px;margin:0 4px 0 8px}"
        "svg{width:100%;max-width:944px;font-size:12px;fill:var(--fg)}"
        "details{margin:4px 0}summary{cursor:pointer;color:var(--dim)}"
        "@media print{body{padding:0;max-width:none}nav{display:none}h2{break-after:avoid}"
        "tr{break-inside:avoid}}";

void page_begin(struct output *output, const char *title)
{
	output_text(output,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	        "<title>");
	output_escaped(output, title, "html");
	output_print(output, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

void page_end(struct output *output)
{
	output_text(output, "</body>\n</html>\n");
}
