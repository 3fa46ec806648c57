export interface DoctorFinding {
  readonly state: "ok" | "warning" | "wrong";
  readonly about: string;
  readonly detail: string;
}

export const finding = (state: DoctorFinding["state"], about: string, detail: string): DoctorFinding => ({ state, about, detail });
