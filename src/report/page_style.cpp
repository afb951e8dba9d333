// CSS text of the report page.
#include "report/page_parts.hpp"

namespace ridge::report {

std::string page_style() {
  return R"(:root{color-scheme:light dark;--page:#f4f3ef;--line:#dedcd3}
@media (prefers-color-scheme:dark){:root{--page:#111110;--line:#33322f}}
*{box-sizing:border-box}
html{background:var(--page)}
body{margin:0;color:var(--ink);background:var(--page);line-height:1.5;font-size:15px;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
.wrap{max-width:1120px;margin:0 auto;padding:0 20px}
header.top{padding:36px 0 8px}
.mark{font-size:12px;letter-spacing:.14em;text-transform:uppercase;color:var(--faint);font-weight:600}
h1{font-size:28px;line-height:1.2;margin:6px 0 8px;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:19px;margin:0 0 2px;font-weight:620;overflow-wrap:anywhere}
h3{font-size:14px;margin:26px 0 8px;font-weight:620;color:var(--soft)}
.meta{color:var(--faint);font-size:13px;overflow-wrap:anywhere}
nav{margin:14px 0 0;display:flex;flex-wrap:wrap;gap:6px}
nav a{color:var(--soft);text-decoration:none;border:1px solid var(--line);border-radius:999px;padding:2px 12px;font-size:13px}
nav a:hover{color:var(--ink);border-color:var(--faint)}
section.card{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:22px 24px;margin:18px 0}
ul.summary{margin:0;padding:0;list-style:none}
ul.summary li{padding:5px 0;border-top:1px solid var(--grid);overflow-wrap:anywhere}
ul.summary li:first-child{border-top:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:1px;
border:1px solid var(--grid);border-radius:8px;overflow:hidden;margin:16px 0 20px}
.tile{box-shadow:0 0 0 1px var(--grid);padding:10px 14px}
.tile .what{color:var(--faint);font-size:12px}
.tile .number{font-size:20px;font-weight:600;white-space:nowrap;letter-spacing:-.01em}
.figure{overflow-x:auto;margin:4px 0}
.figure svg{width:100%;max-width:880px;height:auto;margin:0 auto}
.figure.narrow{display:none}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(330px,100%),1fr));gap:18px 24px}
.figures svg{width:100%;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{font-weight:560;color:var(--faint);font-size:12px;text-align:left;border-bottom:1px solid var(--axis);
padding:6px 12px 6px 0;vertical-align:bottom;white-space:nowrap}
td{padding:6px 12px 6px 0;border-bottom:1px solid var(--grid);vertical-align:top}
tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;white-space:nowrap}
td.n:last-child,th.n:last-child{padding-right:0}
td.none{color:var(--faint)}
tr.chosen td{font-weight:600}
table.overview{width:auto;min-width:100%}
table.overview td{min-width:150px}
table.overview th a{color:var(--ink);text-decoration:none}
table.overview .rate{font-weight:600;white-space:nowrap}
.bar{height:6px;border-radius:3px;background:var(--grid);overflow:hidden;margin:3px 0 2px;max-width:180px}
.bar span{display:block;height:100%;background:var(--accent)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(260px,100%),1fr));gap:0 28px;margin:0;font-size:14px}
.facts div{display:flex;justify-content:space-between;gap:16px;padding:4px 0;border-bottom:1px solid var(--grid)}
.facts dt{color:var(--soft)}
.facts dd{margin:0;text-align:right;overflow-wrap:anywhere}
.flag{display:inline-block;font-size:12px;color:var(--soft);border:1px solid var(--line);border-radius:4px;padding:0 6px;
margin-left:8px;vertical-align:2px;font-weight:400}
.key{display:inline-block;width:10px;height:10px;border-radius:2px;background:var(--accent);margin-right:6px}
footer{color:var(--faint);font-size:13px;padding:6px 0 40px}
figure{margin:8px 0}
figure img{max-width:100%;height:auto}
@media (max-width:640px){.wrap{padding:0 10px}section.card{padding:16px 14px}h1{font-size:23px}
.figure.wide{display:none}.figure.narrow{display:block}
.tile{padding:8px 10px}.tile .number{font-size:17px}
table.overview,table.overview tbody,table.overview tr,table.overview td{display:block}
table.overview tr{border-bottom:1px solid var(--axis);padding:8px 0}
table.overview tr:first-child{display:none}
table.overview tr:last-child{border-bottom:0}
table.overview td{border-bottom:0;padding:4px 0}
table.overview td:first-child{font-weight:600}
table.overview .meta{font-weight:400}
table.overview td[data-device]::before{content:attr(data-device);color:var(--faint);font-size:12px}
table.overview td.none{display:none}}
@media print{html,body{background:#fff}section.card{break-inside:avoid}}
)";
}

}  // namespace ridge::report
