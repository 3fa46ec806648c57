import type { ReactNode } from "react";
import { ApiError } from "./api-error.ts";

/** What is wrong with a form as a whole. What is wrong with a field stands at the field. */
export function FormError({ error }: { readonly error: unknown }): ReactNode {
  if (error == null || (error instanceof ApiError && error.fields.length > 0)) return null;
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}
