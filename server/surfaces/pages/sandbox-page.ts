import { APP_DOMAIN } from "../../kernel/configuration/app-domains.ts";
import { type AppDomains, sandboxPolicy } from "./content-security.ts";

/**
 * A proxy page between our page and a tool server's user interface: it has an opaque origin, puts the interface into a frame within it and
 * forwards messages, as the extension for such interfaces describes.
 */
const PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Interface of a tool</title>
<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style>
<script>
const frame = document.createElement("iframe");
frame.title = document.title;
frame.setAttribute("sandbox", "allow-scripts");
addEventListener("message", ({ source, data }) => {
  if (source === frame.contentWindow) return parent.postMessage(data, "*");
  if (source !== parent || typeof data !== "object" || data === null) return;
  if (data.method !== "ui/notifications/sandbox-resource-ready") return frame.contentWindow?.postMessage(data, "*");
  frame.srcdoc = String(data.params?.html ?? "");
  document.body.replaceChildren(frame);
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
</script>
`;

const MAX_DOMAINS = 32;

/** Whether a requested host is allowed, itself or by a wildcard. */
function isAllowed(isRequestAllowed: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => {
    const [scheme = "", host = ""] = one.split("://");
    return (
      one === isRequestAllowed ||
      (host.startsWith("*.") && isRequestAllowed.startsWith(`${scheme}://`) && isRequestAllowed.endsWith(host.slice(1)))
    );
  });
}

/** The frame for an interface that requests the hosts in `url`: it gets only those that an administrator allows. */
export function sandboxPage(url: string, allowed: readonly string[]): Response {
  const { searchParams } = new URL(url);
  const granted = (name: string) =>
    searchParams
      .getAll(name)
      .slice(0, MAX_DOMAINS)
      .filter((domain) => APP_DOMAIN.test(domain) && isAllowed(domain, allowed));
  const domains: AppDomains = { connect: granted("connect"), resource: granted("resource") };
  return new Response(PAGE, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": sandboxPolicy(domains),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    },
  });
}
