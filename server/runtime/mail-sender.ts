import type { Transporter } from "nodemailer";
import type { MailAddress, MailServer } from "../kernel/configuration/mail-settings.ts";

export interface Mail {
  readonly to: MailAddress;
  readonly subject: string;
  readonly text: string;
}

/**
 * Sends one mail. Null once the server accepted it, else error codes only, because the server's response may repeat the mail. Never throws,
 * and never takes longer than its timeout.
 */
export type SendMail = (mail: Mail) => Promise<string | null>;

const TIMEOUT_MS = 10_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Uses a new connection for each mail. Credentials leave this machine only over TLS. */
export function mailSender(server: MailServer, from: MailAddress, timeoutMs: number = TIMEOUT_MS): SendMail {
  const { host, port, secure, login } = server;
  let transport: Promise<Transporter> | undefined;
  // Loaded on the first mail, because loading it would slow down every start.
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import("nodemailer");
    return createTransport({
      host,
      port,
      secure,
      requireTLS: !secure && login !== null && !LOOPBACK.test(host),
      ...(login === null ? {} : { auth: login }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  return async ({ to, subject, text }) => {
    transport ??= open();
    const late = AbortSignal.timeout(timeoutMs);
    try {
      await (await transport).sendMail({ from, to, subject, text, signal: late });
      return null;
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      // The transport has timeouts of its own, which may fire first.
      if (late.aborted || code === "ETIMEDOUT") return "timeout";
      return [code, responseCode].filter((part) => part !== undefined).join(" ") || "failed";
    }
  };
}
