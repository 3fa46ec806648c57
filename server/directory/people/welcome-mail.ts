import type { EndUser } from "@gatehouse/contracts/end-users";
import type { Log } from "../../kernel/log.ts";
import type { Mail, SendMail } from "../../runtime/mail-sender.ts";

/** Mails a new user about their account. Resolves to true only if the mail server accepted it; never rejects. */
export type WelcomeMailer = (user: EndUser) => Promise<boolean>;

/** Omits the password, which is handed over another way. Line breaks in the name are removed, because it may go into a header. */
function welcomeMail(user: EndUser, address: string, publicUrl: string | null): Mail {
  const name = (user.display_name ?? user.username).replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  const where = publicUrl === null ? [] : [`Address: ${publicUrl}`];
  const lines = [
    `Hello ${name},`,
    "",
    "an account was made for you at the AI gateway of your organization.",
    "",
    `User name: ${user.username}`,
    ...where,
    "",
    "You get your password from whoever made the account. Change it after you have signed in.",
    "",
  ];
  return { to: { name, address }, subject: "Your account at the AI gateway", text: lines.join("\n") };
}

/** Skips users without a mail address. Failures are logged with their codes and the user's ID. */
export function welcomeMailer(parts: { readonly send: SendMail; readonly publicUrl: string | null; readonly log: Log }): WelcomeMailer {
  return async (user) => {
    if (user.email === null) return false;
    const failure = await parts.send(welcomeMail(user, user.email, parts.publicUrl));
    if (failure !== null) parts.log.warn("welcome_mail_failed", { user_id: user.id, failure });
    return failure === null;
  };
}
