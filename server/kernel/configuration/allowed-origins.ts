import { z } from "zod";

export const origins = z.string().transform((value, ctx) => {
  const given = value
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
  const bad = given.filter((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (bad.length === 0) return given;
  ctx.addIssue({ code: "custom", message: `must be a comma list of origins such as https://app.example, which ${bad[0]} is not` });
  return z.NEVER;
});

/** Web origins whose pages may read answers of the runtime plane (CORS); all others are blocked. */
export interface AllowedOrigins {
  /** For the text surfaces and the portal API. */
  readonly calls: ReadonlySet<string>;
  /** For tool servers, which themselves refuse calls from other pages. */
  readonly toolServers: ReadonlySet<string>;
}

export function allowedOrigins(everywhere: readonly string[], toolServers: readonly string[]): AllowedOrigins {
  return { calls: new Set(everywhere), toolServers: new Set([...everywhere, ...toolServers]) };
}
