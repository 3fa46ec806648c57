import { type Analyzer, NOTHING_TO_PREPARE, unreadable } from "./analyzer.ts";
import { isPrivateHost } from "./private-host.ts";

const MAX_LENGTH = 16 * 1024;
/** The longest host name that can be resolved, fully percent-encoded. */
const MAX_HOST_LENGTH = 3 * 255;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** Prefixes that some parsers skip: Python and Java drop `URL:`, and `jar:http://host/` refers to an entry of a remote file. */
const BEFORE_URL = /^(?:[a-z][a-z0-9+.-]*:)+?(?=(?:https?|wss?|ftp|file):|[a-z][a-z0-9+.-]*:\/\/)/i;
const HOST_AND_PORT = /^[^/?#:@]+:\d{1,5}(?:[/?#]|$)/;

/**
 * URLs by the WHATWG rules. A text without a scheme is read as a web address, as most tools do. What parsers are known
 * to read differently (backslashes, white space and control characters) is unreadable.
 */
export const urlAnalyzer: Analyzer = {
  prepare: NOTHING_TO_PREPARE,
  inspect(value) {
    if (typeof value !== "string") return unreadable("The argument is not text.");
    const text = value.trim();
    const url = read(text);
    const [before] = BEFORE_URL.exec(text) ?? [];
    const inner = before === undefined ? url : read(text.slice(before.length));
    if (url === null || inner === null) return unreadable("The argument is not a URL that can be read in only one way.");
    const host = hostOf(url);
    const innerHost = hostOf(inner);
    return {
      unparseable: null,
      holds(denyIf, values) {
        switch (denyIf) {
          case "private_address":
            return inner.protocol === "file:" || (innerHost === null ? inner.pathname.startsWith("/") : isPrivateHost(innerHost));
          case "userinfo":
            return inner.username !== "" || inner.password !== "";
          case "host_denied":
            return innerHost !== null && hostsOf(values).some((pattern) => matchesHost(innerHost, pattern));
          case "host_not_allowed":
            return host === null || !hostsOf(values).some((pattern) => matchesHost(host, pattern));
          case "scheme_not_allowed":
            return !values.some((allowed) => allowed.toLowerCase().replace(/:?\/*$/, "") === url.protocol.slice(0, -1));
          default:
            return false;
        }
      },
    };
  },
};

function read(text: string): URL | null {
  if (text === "" || text.length > MAX_LENGTH || /[\\\s\p{Cc}\p{Cf}]/u.test(text)) return null;
  const named = HAS_SCHEME.test(text) && !HOST_AND_PORT.test(text);
  // Without both slashes WHATWG still finds a host after a web scheme, while other parsers find a path.
  if (named && /^(?:https?|wss?|ftp):(?!\/\/[^/])/i.test(text)) return null;
  try {
    const url = new URL(named ? text : text.startsWith("//") ? `http:${text}` : `http://${text}`);
    return url.hostname.length > MAX_HOST_LENGTH ? null : url;
  } catch {
    return null;
  }
}

/** The host normalised as for http, whatever the scheme; null if the URL has none. */
function hostOf(url: URL): string | null {
  if (url.hostname === "") return null;
  try {
    return new URL(`http://${url.hostname}`).hostname.replace(/\.+$/, "");
  } catch {
    return url.hostname.toLowerCase();
  }
}

/** Normalised lists of rules, cached because normalising one entry costs as much as parsing a URL. */
const hostLists = new WeakMap<readonly string[], readonly string[]>();

function hostsOf(values: readonly string[]): readonly string[] {
  let found = hostLists.get(values);
  if (found === undefined) {
    found = values.map((value) => {
      const wanted = value.trim().toLowerCase().replace(/\.+$/, "");
      if (wanted === "*") return wanted;
      return wanted.startsWith("*.") ? `*${asciiHost(wanted.slice(2), ".")}` : asciiHost(wanted, "");
    });
    hostLists.set(values, found);
  }
  return found;
}

/** `*.example.com` matches subdomains but not example.com itself; anything else matches exactly. */
function matchesHost(host: string, pattern: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

function asciiHost(name: string, prefix: string): string {
  try {
    return prefix + new URL(`http://${name}`).hostname;
  } catch {
    return prefix + name;
  }
}
