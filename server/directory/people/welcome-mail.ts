import type { EndUser } from "@gatehouse/contracts/end-users";
import type { Log } from "../../kernel/log.ts";
import type { Mail, SendMail } from "../../runtime/mail-sender.ts";

/** Tells a new user of their account. True only when the mail server took the mail; never throws. */
export type WelcomeMailer = (user: EndUser) => Promise<boolean>;

/** Without the password, which whoever made the account hands over another way. A header has one line, so a name has too. */
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

/** A user without an address is not written to. A failure is logged with its codes and the id of the user. */
export function welcomeMailer(parts: { readonly send: SendMail; readonly publicUrl: string | null; readonly log: Log }): WelcomeMailer {
  return async (user) => {
    if (user.email === null) return false;
    const failure = await parts.send(welcomeMail(user, user.email, parts.publicUrl));
    if (failure !== null) parts.log.warn("welcome_mail_failed", { user_id: user.id, failure });
    return failure === null;
  };
}
