import { hash } from "node:crypto";
import type { ConsentPage } from "../../governance/authorization/broker-request.ts";

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f4f5f7;color:#1b1f24}main{max-width:30rem;margin:8vh auto;padding:2rem;background:#fff;border-radius:12px;box-shadow:0 1px 4px #0002}h1{font-size:1.3rem;margin:0 0 1rem}ul{padding-left:1.2rem}code{background:#eef;padding:0 .3em;border-radius:4px}label{display:block;margin:1rem 0 .3rem}input{width:100%;box-sizing:border-box;padding:.5rem;font:inherit}button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0;border-radius:8px;border:1px solid #888;background:#fff}button.main{background:#1a5fb4;color:#fff;border-color:#1a5fb4}p.problem{color:#a51d2d;font-weight:600}@media(prefers-color-scheme:dark){body{background:#16181c;color:#e8e8e8}main{background:#22252b}code{background:#334}button{background:#333;color:#eee}}";

/** Pages of the broker: nothing is loaded, nothing runs, nobody may frame them, and no address of them is passed on. */
export const PAGE_HEADERS: Record<string, string> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; frame-ancestors 'none'`,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

export function plainPage(title: string, text: string): string {
  return page(title, `<p>${escaped(text)}</p>`);
}

export function consentPage({ asker, returnsTo, serverName, scopes, provider, key, request, action, problem }: ConsentPage): string {
  const wants = `<p><strong>${escaped(asker)}</strong> will reach <strong>${escaped(serverName)}</strong> through this gateway with your account at <code>${escaped(provider)}</code>.</p>`;
  const list = scopes.length === 0 ? "" : `<p>It asks for:</p><ul>${scopes.map((scope) => `<li><code>${escaped(scope)}</code></li>`).join("")}</ul>`;
  const way = returnsTo === null ? "" : `<p>You will then be sent to <code>${escaped(returnsTo)}</code>. Allow this only if you began it there.</p>`;
  const label = key.name === null ? "API key of this gateway (only if the application does not send one)" : `To show that it is yours, enter the API key “${escaped(key.name)}”`;
  const field = `<label for="api_key">${label}</label><input id="api_key" name="api_key" type="password" autocomplete="off"${key.required ? " required" : ""}>`;
  const wrong = problem === null ? "" : `<p class="problem" role="alert">${escaped(problem)}</p>`;
  const form = `<form method="post" action="${escaped(action)}"><input type="hidden" name="request" value="${escaped(request)}">${field}<button class="main" name="decision" value="allow">Allow</button><button name="decision" value="deny" formnovalidate>Do not allow</button></form>`;
  return page("Connect your account", wants + list + way + wrong + form);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1>${body}</main></body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}
