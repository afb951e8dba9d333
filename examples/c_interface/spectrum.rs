// The spectrum of a cosine in Rust:
//   rustc -L native=FOLDER_OF_LIBRIDGE_C spectrum.rs
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Dimension {
    length: i64,
    input_stride: i64,
    output_stride: i64,
}

#[repr(C)]
struct FftProblem {
    struct_size: usize,
    kind: c_int,
    precision: c_int,
    axes: usize,
    loops: usize,
    axis: *const Dimension,
    loop_: *const Dimension,
    real_kind: *const c_int,
    scale: f64,
    in_place: c_int,
    measured: c_int,
    threads: usize,
}

const REAL_FORWARD: c_int = 2;
const FLOAT64: c_int = 1;

#[link(name = "ridge_c")]
extern "C" {
    fn ridge_last_error() -> *const c_char;
    fn ridge_fft_plan_create(device: *const c_char, problem: *const FftProblem, plan: *mut *mut c_void) -> c_int;
    fn ridge_fft_run(plan: *const c_void, input: *const c_void, output: *mut c_void) -> c_int;
    fn ridge_fft_plan_free(plan: *mut c_void);
}

fn check(status: c_int) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    // The message is valid until this thread's next call.
    Err(unsafe { CStr::from_ptr(ridge_last_error()) }.to_string_lossy().into_owned())
}

/// A plan of a real transform of one length, freed when it is dropped.
struct RealPlan {
    n: usize,
    plan: *mut c_void,
}

impl RealPlan {
    fn new(n: usize) -> Result<Self, String> {
        let axis = Dimension { length: n as i64, input_stride: 1, output_stride: 1 };
        let problem = FftProblem {
            struct_size: std::mem::size_of::<FftProblem>(),
            kind: REAL_FORWARD,
            precision: FLOAT64,
            axes: 1,
            loops: 0,
            axis: &axis,
            loop_: null(),
            real_kind: null(),
            scale: 1.0,
            in_place: 0,
            measured: 0,
            threads: 1,
        };
        let mut plan = null_mut();
        check(unsafe { ridge_fft_plan_create(c"host".as_ptr(), &problem, &mut plan) })?;
        Ok(Self { n, plan })
    }

    fn run(&self, x: &[f64]) -> Result<Vec<[f64; 2]>, String> {
        assert_eq!(x.len(), self.n);
        let mut y = vec![[0.0; 2]; self.n / 2 + 1];
        check(unsafe { ridge_fft_run(self.plan, x.as_ptr().cast(), y.as_mut_ptr().cast()) })?;
        Ok(y)
    }
}

impl Drop for RealPlan {
    fn drop(&mut self) {
        unsafe { ridge_fft_plan_free(self.plan) }
    }
}

fn main() -> Result<(), String> {
    let n = 60;
    let x: Vec<f64> = (0..n).map(|i| (std::f64::consts::TAU * 7.0 * i as f64 / n as f64).cos()).collect();
    let power: Vec<f64> = RealPlan::new(n)?.run(&x)?.iter().map(|z| z[0].hypot(z[1])).collect();
    let peak = (0..power.len()).max_by(|&a, &b| power[a].total_cmp(&power[b])).unwrap();
    println!("peak at {peak} of height {:.3}", power[peak]);
    // A mistake is a status and a message.
    println!("{}", RealPlan::new(0).err().expect("length 0 was accepted"));
    Ok(())
}
