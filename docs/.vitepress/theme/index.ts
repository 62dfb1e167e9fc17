import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { defineAsyncComponent } from "vue";
import "./style.css";

/** Both need the package in the browser, so they are loaded there, and only by the page that shows them. */
const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component(
      "StatisticsPlayground",
      defineAsyncComponent(() => import("./StatisticsPlayground.vue")),
    );
    app.component(
      "LimiterPlayground",
      defineAsyncComponent(() => import("./LimiterPlayground.vue")),
    );
  },
};
export default theme;
