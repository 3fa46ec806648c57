import type { ReactNode } from "react";
import { ApiError, refusalWords } from "./api-error.ts";

interface FormErrorProps {
  readonly error: unknown;
  /** The message for a 401 on this form. */
  readonly unauthorized?: string;
  /** Fields that show their own errors. */
  readonly atFields?: readonly string[];
}

/** Errors about a form as a whole, and about request members that have no field. */
export function FormError({ error, unauthorized, atFields = [] }: FormErrorProps): ReactNode {
  if (error == null) return null;
  const fields = error instanceof ApiError ? error.fields : [];
  const elsewhere = fields.filter(({ field }) => !atFields.includes(field));
  if (fields.length > 0 && elsewhere.length === 0) return null;
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
      {elsewhere.length > 0
        ? elsewhere.map(({ field, message }) => `${field}: ${message}`).join("; ")
        : unauthorized !== undefined && error instanceof ApiError && error.status === 401
          ? unauthorized
          : refusalWords(error)}
    </p>
  );
}
