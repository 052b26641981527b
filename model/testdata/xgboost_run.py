# Trains XGBoost on the JSON of stdin and prints JSON: predictions, SHAP values
# and times in seconds. Keys: params, rounds, x, lower, upper (null is infinite;
# absent: lower is an exact label), test, repeat. Exits with 3 if there is no
# xgboost 1.7.
import json, sys, time

try:
    import numpy as np
    import xgboost as xgb
except ImportError as e:
    sys.exit((print(e, file=sys.stderr), 3)[1])
if not xgb.__version__.startswith("1.7."):
    sys.exit((print("xgboost", xgb.__version__, file=sys.stderr), 3)[1])

job = json.load(sys.stdin)
x, test = np.array(job["x"], np.float32), np.array(job["test"], np.float32)
train = xgb.DMatrix(x)
if "upper" in job:
    upper = [np.inf if v is None else v for v in job["upper"]]
    train.set_float_info("label_lower_bound", np.array(job["lower"]))
    train.set_float_info("label_upper_bound", np.array(upper))
else:
    train.set_label(np.array(job["lower"]))
params = dict(job["params"], verbosity=0)
fit, predict = [], []
for _ in range(job["repeat"]):
    t = time.perf_counter()
    booster = xgb.train(params, train, job["rounds"])
    fit.append(time.perf_counter() - t)
    rows = xgb.DMatrix(test)
    t = time.perf_counter()
    margin = booster.predict(rows, output_margin=True)
    predict.append(time.perf_counter() - t)
shap = booster.predict(rows, pred_contribs=True) if job["repeat"] == 1 else np.zeros((0, 0))
json.dump({"version": xgb.__version__, "margin": margin.tolist(), "shap": shap.tolist(),
           "fit_s": min(fit), "predict_s": min(predict)}, sys.stdout)
