import type { ConsentPage } from "../../services/tools/authorization/broker-request.ts";
import { escaped, page } from "../../wire/http/html-page.ts";

export function consentPage({ asker, returnsTo, serverName, scopes, provider, key, request, action, problem }: ConsentPage): string {
  const requestedAccess =
    `<p><strong>${escaped(asker)}</strong> will reach <strong>${escaped(serverName)}</strong> through this gateway with ` +
    `your account at <code>${escaped(provider)}</code>.</p>`;
  const list =
    scopes.length === 0 ? "" : `<p>It asks for:</p><ul>${scopes.map((scope) => `<li><code>${escaped(scope)}</code></li>`).join("")}</ul>`;
  const way =
    returnsTo === null ? "" : `<p>You will then be sent to <code>${escaped(returnsTo)}</code>. Allow this only if you began it there.</p>`;
  const label =
    key.name === null
      ? "API key of this gateway (only if the application does not send one)"
      : `To show that it is yours, enter the API key “${escaped(key.name)}”`;
  const field =
    `<label for="api_key">${label}</label><input id="api_key" name="api_key" type="password" ` +
    `autocomplete="off"${key.required ? " required" : ""}>`;
  const wrong = problem === null ? "" : `<p class="problem" role="alert">${escaped(problem)}</p>`;
  const form =
    `<form method="post" action="${escaped(action)}"><input type="hidden" name="request" ` +
    `value="${escaped(request)}">${field}<button class="main" name="decision" value="allow">Allow</button><button ` +
    `name="decision" value="deny" formnovalidate>Do not allow</button></form>`;
  return page("Connect your account", requestedAccess + list + way + wrong + form);
}
