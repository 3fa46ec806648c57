import { useSearch } from "@tanstack/react-router";

/** The tenant that the address names. */
export function useTenant(): string | undefined {
  return (useSearch({ strict: false }) as { tenant?: string }).tenant;
}
