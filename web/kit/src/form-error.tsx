import type { ReactNode } from "react";
import { ApiError } from "./api-error.ts";

interface FormErrorProps {
  readonly error: unknown;
  /** What a 401 means here, in the words of who reads it. */
  readonly unauthorized?: string;
}

/** What is wrong with a form as a whole. What is wrong with a field stands at the field. */
export function FormError({ error, unauthorized }: FormErrorProps): ReactNode {
  if (error == null || (error instanceof ApiError && error.fields.length > 0)) return null;
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
      {unauthorized !== undefined && error instanceof ApiError && error.status === 401
        ? unauthorized
        : error instanceof Error
          ? error.message
          : String(error)}
    </p>
  );
}
