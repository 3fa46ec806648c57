import { startApp } from "@gatehouse/web-kit/app-frame.tsx";
import { ReferenceApp } from "./reference-app.tsx";
import "./reference.css";

startApp(<ReferenceApp />);
