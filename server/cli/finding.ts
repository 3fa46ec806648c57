export interface Finding {
  readonly state: "ok" | "warning" | "wrong";
  readonly about: string;
  readonly detail: string;
}

export const finding = (state: Finding["state"], about: string, detail: string): Finding => ({ state, about, detail });
