export type SafeSearch = "off" | "moderate" | "strict";
const FROM_LOOSE: readonly SafeSearch[] = ["off", "moderate", "strict"];

export function saferSearch(one: SafeSearch, other: SafeSearch | null): SafeSearch {
  return other !== null && FROM_LOOSE.indexOf(other) > FROM_LOOSE.indexOf(one) ? other : one;
}
