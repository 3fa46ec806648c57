import { z } from "zod";

/** A host source of a content security policy: with its scheme, and `*.` for all subdomains. */
export const APP_DOMAIN = /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/;

export const appDomains = z.string().transform((value, ctx) => {
  const names = value
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  if (names.every((name) => APP_DOMAIN.test(name))) return names;
  ctx.addIssue({ code: "custom", message: "must be a comma list of hosts such as https://cdn.example or https://*.example" });
  return z.NEVER;
});
