import { z } from "zod";

/** The server that mail is submitted to. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly login: { readonly user: string; readonly pass: string } | null;
}

export interface MailAddress {
  /** Empty if there is none. */
  readonly name: string;
  readonly address: string;
}

const PORTS = { "smtp:": 587, "smtps:": 465 } as const;

function mailServer(text: string): MailServer | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== "smtp:" && protocol !== "smtps:") return null;
  if (hostname === "" || port === "0" || !["", "/"].includes(pathname) || search !== "" || hash !== "") return null;
  if ((username === "") !== (password === "")) return null;
  try {
    const login = username === "" ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
    return {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? PORTS[protocol] : Number(port),
      secure: protocol === "smtps:",
      login,
    };
  } catch {
    return null;
  }
}

function mailAddress(text: string): MailAddress | null {
  const [, name = "", inAngles] = /^([^<>"\p{C}]*)<([^<>]*)>$/u.exec(text.trim()) ?? [];
  const address = inAngles ?? text.trim();
  return z.email().safeParse(address).success ? { name: name.trim(), address } : null;
}

/** `smtp[s]://user:pass@host:port`, credentials percent-encoded as needed. */
export const smtpUrl = z.string().transform((value, ctx) => {
  const server = mailServer(value);
  if (server !== null) return server;
  ctx.addIssue({ code: "custom", message: "must be an address such as smtps://user:password@mail.example:465" });
  return z.NEVER;
});

/** `someone@example.com` or `A Name <someone@example.com>`. */
export const mailFrom = z.string().transform((value, ctx) => {
  const from = mailAddress(value);
  if (from !== null) return from;
  ctx.addIssue({ code: "custom", message: "must be an address such as Gatehouse <gateway@mail.example>" });
  return z.NEVER;
});
